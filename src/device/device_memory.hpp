// Memory of a device that belongs to one owner.
#pragma once

#include <cstdint>
#include <memory>

#include "device/accelerator.hpp"

namespace partita::devices {

/// Frees its memory when destroyed, without waiting for work that depends on peers. Does not keep the device
/// alive.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws MemoryError. The calling thread drives the device from here on.
  DeviceMemory(Accelerator& device, std::int64_t bytes) : bytes_(bytes) {
    device.use();
    data_ = {device.physical().allocate(bytes), Release{&device.physical()}};
  }

  void* data() const { return data_.get(); }
  std::int64_t bytes() const { return data_ ? bytes_ : 0; }
  void reset() noexcept { data_.reset(); }

 private:
  struct Release {
    PhysicalDevice* device;
    void operator()(void* memory) const noexcept { device->release(memory); }
  };
  std::unique_ptr<void, Release> data_;
  std::int64_t bytes_ = 0;
};

/// The same of pinned host memory, which the device writes in place.
class PinnedMemory {
 public:
  /// Throws MemoryError.
  PinnedMemory(Accelerator& device, std::int64_t bytes) {
    device.use();
    data_ = {device.physical().allocate_pinned(bytes), Release{&device.physical()}};
  }

  void* data() const { return data_.get(); }

 private:
  struct Release {
    PhysicalDevice* device;
    void operator()(void* memory) const noexcept { device->release_pinned(memory); }
  };
  std::unique_ptr<void, Release> data_;
};

}  // namespace partita::devices
