// Memory of a device for results that a rank makes for itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "device/physical_device.hpp"

namespace partita::devices {

/// What was given back is taken again for work of the same stream, which follows what that has done with it:
/// a driver would wait for the device each time. Any thread.
class StreamMemory {
 public:
  explicit StreamMemory(PhysicalDevice& device) : device_(device) {}
  ~StreamMemory() { release(); }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  /// Throws MemoryError. The calling thread drives the device.
  void* take(std::int64_t bytes, Stream stream);
  /// What was taken for these bytes and this stream.
  void give(void* memory, std::int64_t bytes, Stream stream) noexcept;

 private:
  using Key = std::pair<void*, std::int64_t>;  // the stream, and the size of the block
  static std::int64_t block_bytes(std::int64_t bytes);
  void release() noexcept;

  PhysicalDevice& device_;
  std::mutex mutex_;
  std::multimap<Key, void*> blocks_;  // under the mutex, as
  std::int64_t bytes_ = 0;            // of these
};

}  // namespace partita::devices
