#include "device/physical_device.hpp"

#include <new>

namespace partita::devices {

void PhysicalDevice::free_one(const Released& released) noexcept {
  released.pinned ? free_pinned(released.memory) : free(released.memory);
}

void PhysicalDevice::give_back(Released released) noexcept {
  if (contexts_ > 1) {
    try {
      const std::lock_guard lock(mutex_);
      return released_.push_back(released);
    } catch (const std::bad_alloc&) {
      // Not even memory for the note: what waits may end all the same.
    }
  }
  free_one(released);
}

void PhysicalDevice::collect() noexcept {
  std::vector<Released> released;
  {
    const std::lock_guard lock(mutex_);
    released.swap(released_);
  }
  for (const Released& one : released) free_one(one);
}

}  // namespace partita::devices
