// The memory of devices without a device: the host's.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "device/accelerator.hpp"
#include "device/ordinary_reads.hpp"

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
  /// As of CUDA's IPC, of allocations of many bytes: another process can open them.
  bool let_open(const void* address, devices::ExportedMemory& memory);
  devices::ExportedMemory find_freed();
  static void* open(const devices::ExportedMemory::Handle& handle);
  static void close(void* memory) noexcept;
  /// Whether some byte of these is of a device, so that a transport cannot take them.
  bool is_of_device(const void* first, std::int64_t bytes);
  /// As of CUDA: once the device has done all that it was given, by whomever.
  void release(void* block, int device) noexcept;

 private:
  struct Block {
    std::int64_t bytes = 0;
    int owner = -1;
    int file = -1;             // that other processes can map; -1: there is none
    std::uint64_t number = 0;  // another one for each
    bool exported = false;
  };
  static devices::ExportedMemory exported(const Block& block);
  const Block* block_of(const char* address) const;  // under the mutex

  std::mutex mutex_;
  std::map<char*, Block> blocks_;
  std::uint64_t last_number_ = 0;
  std::vector<devices::ExportedMemory> freed_;
};

}  // namespace partita::testing
