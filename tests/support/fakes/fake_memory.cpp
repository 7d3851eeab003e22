#include "support/fakes/fake_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "support/fakes/fake_stream.hpp"

namespace partita::testing {
namespace {

std::atomic<bool> is_separate{false};

void* mapped(int file, std::int64_t bytes) {
  void* const memory =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

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
  const int file = owner >= 0 && bytes > 0 ? ::memfd_create("fake device memory", MFD_CLOEXEC) : -1;
  void* const block = file < 0 || ::ftruncate(file, bytes) != 0 ? std::malloc(static_cast<std::size_t>(bytes))
                                                                : mapped(file, bytes);
  const std::lock_guard lock(mutex_);
  if (block != nullptr) blocks_[static_cast<char*>(block)] = {bytes, owner, file, ++last_number_};
  return block;
}

bool FakeMemory::let_open(const void* address, devices::ExportedMemory& memory) {
  const std::lock_guard lock(mutex_);
  auto found = blocks_.upper_bound(const_cast<char*>(static_cast<const char*>(address)));
  if (block_of(static_cast<const char*>(address)) == nullptr || (--found)->second.file < 0) return false;
  found->second.exported = true;
  memory = exported(found->second);
  memory.offset = static_cast<std::uint64_t>(static_cast<const char*>(address) - found->first);
  return true;
}

devices::ExportedMemory FakeMemory::exported(const Block& block) {
  return {block.number,
          0,
          {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(block.file),
           static_cast<std::uint64_t>(block.bytes)}};
}

devices::ExportedMemory FakeMemory::find_freed() {
  const std::lock_guard lock(mutex_);
  if (freed_.empty()) return {};
  const devices::ExportedMemory last = freed_.back();
  freed_.pop_back();
  return last;
}

void* FakeMemory::open(const devices::ExportedMemory::Handle& handle) {
  const std::string path = fmt::format("/proc/{}/fd/{}", handle[0], handle[1]);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const auto bytes = static_cast<std::int64_t>(handle[2]);
  void* const memory = mapped(file, bytes);
  ::close(file);
  if (memory != nullptr) get().add(memory, bytes, -1);
  return memory;
}

void FakeMemory::close(void* memory) noexcept {
  std::int64_t bytes = 0;
  {
    const std::lock_guard lock(get().mutex_);
    bytes = get().blocks_.at(static_cast<char*>(memory)).bytes;
  }
  get().forget(memory);
  ::munmap(memory, static_cast<std::size_t>(bytes));
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
  Block freed;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(static_cast<char*>(block));
    if (found != blocks_.end()) freed = found->second;
    if (freed.exported) freed_.push_back(exported(freed));
  }
  forget(block);
  if (freed.file < 0) return std::free(block);
  ::munmap(block, static_cast<std::size_t>(freed.bytes));
  ::close(freed.file);
}

}  // namespace partita::testing
