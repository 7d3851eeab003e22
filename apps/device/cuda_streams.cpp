#include "device/cuda_streams.hpp"

#include "device/cuda_check.hpp"

namespace on_device::cuda {

std::shared_ptr<void> make_stream() {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cannot query stream priorities");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "no stream");
  return {stream, [](void* made) { cudaStreamDestroy(static_cast<cudaStream_t>(made)); }};
}

std::shared_ptr<void> make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "no event");
  return {event, [](void* made) { cudaEventDestroy(static_cast<cudaEvent_t>(made)); }};
}

void order(void* event, void* first, void* then) {
  const auto reached = static_cast<cudaEvent_t>(event);
  check(cudaEventRecord(reached, static_cast<cudaStream_t>(first)), "an event was not recorded");
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(then), reached), "a stream cannot wait");
}

}  // namespace on_device::cuda
