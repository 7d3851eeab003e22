#include <partita/error.hpp>

#include "device/cuda_streams.hpp"

namespace on_device::cuda {
namespace {

[[noreturn]] void refuse() {
  throw partita::UnsupportedError("this build has no CUDA");
}

}  // namespace

std::shared_ptr<void> make_stream() {
  refuse();
}

std::shared_ptr<void> make_event() {
  refuse();
}

void order(void* /*event*/, void* /*first*/, void* /*then*/) {
  refuse();
}

}  // namespace on_device::cuda
