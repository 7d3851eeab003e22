#include "device/physical_device.hpp"

#include <algorithm>
#include <new>
#include <partita/error.hpp>
#include <utility>

#include "base/pages.hpp"

namespace partita::devices {

/// What stays may be in the way: then there is nothing to lose by waiting for it.
template <class New>
void* PhysicalDevice::allocated(std::int64_t bytes, const New& take) {
  void* memory = nullptr;
  try {
    memory = take();
  } catch (const MemoryError&) {
    if (!collect_all()) throw;
  }
  if (memory == nullptr) memory = take();
  note_allocated(bytes);
  return memory;
}

void* PhysicalDevice::allocate(std::int64_t bytes) {
  return allocated(bytes, [&] { return new_memory(bytes); });
}

void* PhysicalDevice::allocate_pinned(std::int64_t bytes) {
  return allocated(bytes, [&] { return new_pinned(bytes); });
}

void PhysicalDevice::release(void* memory) noexcept {
  if (!is_shared()) return free(memory);
  try {
    release(std::shared_ptr<void>(memory, [this](void* released) { free(released); }));
  } catch (const std::bad_alloc&) {
    // Not even memory for the note: it has been freed.
  }
}

void PhysicalDevice::release_pinned(void* memory) noexcept {
  if (!is_shared()) return free_pinned(memory);
  try {
    release(std::shared_ptr<void>(memory, [this](void* released) { free_pinned(released); }));
  } catch (const std::bad_alloc&) {
    // As above.
  }
}

void PhysicalDevice::release(std::shared_ptr<void> thing) noexcept {
  if (!is_shared()) return;
  try {
    const std::lock_guard lock(mutex_);
    released_.push_back(std::move(thing));
  } catch (const std::bad_alloc&) {
    // It is freed now.
  }
}

bool PhysicalDevice::collect_all() noexcept {
  std::vector<std::shared_ptr<void>> released;  // freed last, when no thread waits for the mutex
  const std::lock_guard lock(mutex_);
  released.swap(released_);
  return !released.empty();
}

void PhysicalDevice::collect(int ranks) noexcept {
  if (threads() <= ranks) collect_all();
}

void PhysicalDevice::open_for(std::thread::id user) {
  const std::lock_guard lock(mutex_);
  users_.push_back(user);
}

void PhysicalDevice::close_for(std::thread::id user) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(users_, user);
  if (found != users_.end()) users_.erase(found);
}

int PhysicalDevice::contexts_of(std::thread::id user) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::ranges::count(users_, user));
}

/// A context has few ranks on a device, and a rank few contexts.
int PhysicalDevice::threads() const {
  const std::lock_guard lock(mutex_);
  int count = 0;
  for (auto user = users_.begin(); user != users_.end(); ++user) {
    if (std::find(users_.begin(), user, *user) == user) ++count;
  }
  return count;
}

bool PhysicalDevice::is_shared() const noexcept {
  return threads() > 1;
}

}  // namespace partita::devices
