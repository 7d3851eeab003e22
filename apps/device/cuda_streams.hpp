// Streams and events of CUDA, of the calling thread's device. All throw partita::Error.
#pragma once

#include <memory>

namespace on_device::cuda {

std::shared_ptr<void> make_stream();  ///< a cudaStream_t of the greatest priority, separate from all others
std::shared_ptr<void> make_event();   ///< a cudaEvent_t, for `order`
/// What `then` is given from here on comes behind all that `first` was given so far.
void order(void* event, void* first, void* then);

}  // namespace on_device::cuda
