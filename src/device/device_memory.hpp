// Memory of a device that belongs to one owner.
#pragma once

#include <cstdint>
#include <utility>

#include "device/accelerator.hpp"

namespace partita {

/// Given back when it goes, which waits for nothing that a peer still has to do. Holds no share of the
/// device.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws MemoryError. The calling thread drives the device from here on.
  DeviceMemory(Accelerator& device, std::int64_t bytes) : device_(&device.physical()), bytes_(bytes) {
    device_->use();
    data_ = device_->allocate(bytes);
  }
  ~DeviceMemory() { reset(); }
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    reset();
    swap(other);
    return *this;
  }

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  void reset() noexcept {
    if (data_ != nullptr) device_->release(std::exchange(data_, nullptr));
    bytes_ = 0;
  }

 private:
  void swap(DeviceMemory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  PhysicalDevice* device_ = nullptr;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace partita
