#include "ranks/fake_memory.hpp"

#include <atomic>
#include <cstdlib>

#include "ranks/fake_stream.hpp"

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
  const auto* const wanted = static_cast<const char*>(address);
  const std::lock_guard lock(mutex_);
  auto found = blocks_.upper_bound(const_cast<char*>(wanted));
  if (found == blocks_.begin() || wanted - std::prev(found)->first >= std::prev(found)->second.bytes) {
    return {true, !is_separate, -1};
  }
  const int owner = std::prev(found)->second.owner;
  return {owner < 0, owner < 0 || owner == asked, owner};
}

void FakeMemory::release(void* block, int device) noexcept {
  await_fake_device(device);
  {
    const std::lock_guard lock(mutex_);
    blocks_.erase(static_cast<char*>(block));
  }
  std::free(block);
}

}  // namespace partita::testing
