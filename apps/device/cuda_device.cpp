#include <cuda_runtime_api.h>

#include <partita/error.hpp>
#include <string>

#include "device/queue.hpp"

namespace on_device {
namespace {

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  throw partita::Error(std::string(what) + ": " + cudaGetErrorString(code));
}

}  // namespace

void use(const partita::Device& device) {
  check(cudaSetDevice(device.index), "cannot use the device");
}

void check_launch() {
  check(cudaPeekAtLastError(), "a kernel was not launched");
}

}  // namespace on_device
