// The memory of devices without a device: the host's.
#pragma once

#include <map>
#include <mutex>

#include "device/accelerator.hpp"

namespace partita::testing {

/// Whether fake devices say that their memory is separate from host memory.
bool is_fake_memory_separate();

/// The memory of all devices. What a failed context leaves stays here, as on a device: it is not lost.
class FakeMemory {
 public:
  static FakeMemory& get();
  /// `owner`: the device; -1: pinned memory of the host. Null: there is none.
  void* allocate(std::int64_t bytes, int owner);
  /// What was not allocated here is the host's, and (but for a test) the devices' as well: they say that
  /// it is.
  devices::FoundMemory find(const void* address, int asked);
  /// Memory of a device that begins at `first`, or its end.
  void add(const void* first, std::int64_t bytes, int owner);
  void forget(const void* first) noexcept;
  /// Whether some byte of these is of a device, so that a transport cannot take them.
  bool is_of_device(const void* first, std::int64_t bytes);
  /// As of CUDA: once the device has done all that it was given, by whomever.
  void release(void* block, int device) noexcept;

 private:
  struct Block {
    std::int64_t bytes = 0;
    int owner = -1;
  };
  const Block* block_of(const char* address) const;  // under the mutex

  std::mutex mutex_;
  std::map<char*, Block> blocks_;
};

}  // namespace partita::testing
