#include "device/stream_memory.hpp"

#include <new>
#include <partita/error.hpp>

namespace partita::devices {
namespace {

constexpr std::int64_t smallest_block = 512;
constexpr std::int64_t most_kept_bytes = std::int64_t{4} << 30;  // the rest of the device is for others

}  // namespace

/// Sizes with few different digits, so that blocks suit results of about the same size.
std::int64_t StreamMemory::block_bytes(std::int64_t bytes) {
  std::int64_t step = smallest_block;
  while (step * 16 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

void* StreamMemory::take(std::int64_t bytes, Stream stream) {
  const std::int64_t size = block_bytes(bytes);
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find({stream.handle, size});
    if (found != blocks_.end()) {
      void* const memory = found->second;
      blocks_.erase(found);
      bytes_ -= size;
      return memory;
    }
  }
  try {
    return device_.allocate(size);
  } catch (const MemoryError&) {
    release();
  }
  return device_.allocate(size);
}

void StreamMemory::give(void* memory, std::int64_t bytes, Stream stream) noexcept {
  const std::int64_t size = block_bytes(bytes);
  try {
    const std::lock_guard lock(mutex_);
    if (bytes_ + size <= most_kept_bytes) {
      blocks_.emplace(Key{stream.handle, size}, memory);
      bytes_ += size;
      return;
    }
  } catch (const std::bad_alloc&) {
    // It is released instead.
  }
  device_.release(memory);
}

void StreamMemory::release() noexcept {
  std::multimap<Key, void*> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks.swap(blocks_);
    bytes_ = 0;
  }
  for (const auto& [key, memory] : blocks) device_.release(memory);
}

}  // namespace partita::devices
