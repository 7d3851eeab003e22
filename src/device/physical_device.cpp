#include "device/physical_device.hpp"

#include <new>
#include <utility>

namespace partita::devices {

void PhysicalDevice::release(void* memory) noexcept {
  if (contexts_ <= 1) return free(memory);
  try {
    release(std::shared_ptr<void>(memory, [this](void* released) { free(released); }));
  } catch (const std::bad_alloc&) {
    // Not even memory for the note: it has been freed.
  }
}

void PhysicalDevice::release_pinned(void* memory) noexcept {
  if (contexts_ <= 1) return free_pinned(memory);
  try {
    release(std::shared_ptr<void>(memory, [this](void* released) { free_pinned(released); }));
  } catch (const std::bad_alloc&) {
    // As above.
  }
}

void PhysicalDevice::release(std::shared_ptr<void> thing) noexcept {
  if (contexts_ <= 1) return;
  try {
    const std::lock_guard lock(mutex_);
    released_.push_back(std::move(thing));
  } catch (const std::bad_alloc&) {
    // It goes now.
  }
}

void PhysicalDevice::collect() noexcept {
  std::vector<std::shared_ptr<void>> released;  // goes last, when nobody waits for the mutex
  const std::lock_guard lock(mutex_);
  released.swap(released_);
}

}  // namespace partita::devices
