#include "device/cuda_check.hpp"
#include "device/queue.hpp"

namespace on_device {

void use(const partita::Device& device) {
  cuda::check(cudaSetDevice(device.index), "cannot use the device");
}

void check_launch() {
  cuda::check(cudaPeekAtLastError(), "a kernel was not launched");
}

}  // namespace on_device
