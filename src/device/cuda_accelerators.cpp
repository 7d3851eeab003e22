// The CUDA devices of this process.
#include <map>
#include <memory>
#include <mutex>

#include "base/check.hpp"
#include "device/accelerator.hpp"
#include "device/cuda_physical_device.hpp"
#include "device/nccl_library.hpp"

namespace partita::devices {
namespace {

int attribute(CUdevice_attribute which, int device) {
  int value = 0;
  cuda::CudaDriver::get().device_attribute(&value, which, device);
  return value;
}

DeviceReport::One describe(int device, int count) {
  cudaDeviceProp found{};
  cuda::check_cuda(cudaGetDeviceProperties(&found, device), "query the device");
  DeviceReport::One one;
  one.name = found.name;
  one.memory_bytes = static_cast<std::int64_t>(found.totalGlobalMem);
  one.architecture = fmt::format("{}.{}", found.major, found.minor);
  one.shareable_memory =
      attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) != 0 &&
      attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device) != 0;
  for (int peer = 0; peer < count; ++peer) {
    int reached = 0;
    if (peer != device && cudaDeviceCanAccessPeer(&reached, device, peer) == cudaSuccess && reached != 0) {
      one.peers.push_back(peer);
    }
  }
  return one;
}

class CudaAccelerators final : public Accelerators {
 public:
  int count() override {
    look();
    return count_;
  }
  std::string why_none() override {
    look();
    return why_none_;
  }
  // One at a time: ranks that are threads of a process come here together, and the first on each device makes
  // its context and loads the kernels, which processes never do side by side.
  std::shared_ptr<PhysicalDevice> device(int index) override {
    const std::lock_guard lock(opening_);
    std::shared_ptr<PhysicalDevice> device = open_[index].lock();
    if (!device) open_[index] = device = std::make_shared<CudaPhysicalDevice>(index);
    return device;
  }
  DeviceReport report() override;

 private:
  void look() {
    std::call_once(looked_, [&] {
      const cudaError_t error = cudaGetDeviceCount(&count_);
      if (error == cudaSuccess && count_ > 0) return;
      (void)cudaGetLastError();
      count_ = 0;
      why_none_ = error == cudaSuccess ? "there is no device"
                  : error == cudaErrorInsufficientDriver
                      ? fmt::format("the driver is absent or older than CUDA {}.{}", CUDART_VERSION / 1000,
                                    CUDART_VERSION % 1000 / 10)
                      : cuda::text_of(error);
    });
  }

  std::mutex opening_;
  std::map<int, std::weak_ptr<PhysicalDevice>> open_;
  std::once_flag looked_;
  int count_ = 0;
  std::string why_none_;
};

DeviceReport CudaAccelerators::report() {
  DeviceReport report;
  report.built_in = true;
  cudaDriverGetVersion(&report.driver_version);
  cudaRuntimeGetVersion(&report.runtime_version);
  report.note = why_none();
  for (int device = 0; device < count(); ++device) {
    report.devices.push_back(describe(device, count()));
    const std::string why_not = CudaPhysicalDevice::why_unsuitable(device);
    if (!why_not.empty()) report.note = fmt::format("device {} {}", device, why_not);
  }
  return report;
}

}  // namespace

Accelerators& Accelerators::built_in() {
  static CudaAccelerators devices;
  return devices;
}

}  // namespace partita::devices
