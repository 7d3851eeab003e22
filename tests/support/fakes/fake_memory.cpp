#include "support/fakes/fake_memory.hpp"

#include <atomic>
#include <cstdlib>

#include "support/fakes/fake_stream.hpp"

namespace partita::testing {
namespace {

std::atomic<bool> is_separate{false};

}  // namespace

void fake_memory_is_separate(bool separate) {
  is_separate = separate;
}

bool is_fake_memory_separate() {
  return is_separate;
}

FakeMemory& FakeMemory::get() {
  static FakeMemory& memory = *new FakeMemory;  // outlives every static object that may still use it
  return memory;
}

void* FakeMemory::allocate(std::int64_t bytes, int owner) {
  void* const block = std::malloc(static_cast<std::size_t>(bytes));
  const std::lock_guard lock(mutex_);
  if (block != nullptr) blocks_[static_cast<char*>(block)] = {bytes, owner};
  return block;
}

devices::FoundMemory FakeMemory::find(const void* address, int asked) {
  const std::lock_guard lock(mutex_);
  const Block* const block = block_of(static_cast<const char*>(address));
  if (block == nullptr) return {true, !is_separate, -1};
  return {block->owner < 0, block->owner < 0 || block->owner == asked, block->owner};
}

const FakeMemory::Block* FakeMemory::block_of(const char* address) const {
  const auto found = blocks_.upper_bound(const_cast<char*>(address));
  if (found == blocks_.begin() || address - std::prev(found)->first >= std::prev(found)->second.bytes) {
    return nullptr;
  }
  return &std::prev(found)->second;
}

void FakeMemory::add(const void* first, std::int64_t bytes, int owner) {
  const std::lock_guard lock(mutex_);
  blocks_[static_cast<char*>(const_cast<void*>(first))] = {bytes, owner};
}

void FakeMemory::forget(const void* first) noexcept {
  const std::lock_guard lock(mutex_);
  blocks_.erase(static_cast<char*>(const_cast<void*>(first)));
}

bool FakeMemory::is_of_device(const void* first, std::int64_t bytes) {
  if (bytes <= 0) return false;
  const auto* const begin = static_cast<const char*>(first);
  const std::lock_guard lock(mutex_);
  for (const char* const address : {begin, begin + bytes - 1}) {
    const Block* const block = block_of(address);
    if (block != nullptr && block->owner >= 0) return true;
  }
  return false;
}

void FakeMemory::release(void* block, int device) noexcept {
  await_fake_device(device);
  forget(block);
  std::free(block);
}

}  // namespace partita::testing
