// Which GPU a stream of XLA's is on.
#pragma once

#include <optional>

namespace partita::python::xla {

/// The index, among the GPUs of this process, of the one on which a CUstream runs. Nothing where this process
/// has not loaded CUDA's driver. Local, thread-safe.
std::optional<int> device_of_cuda_stream(void* stream);

}  // namespace partita::python::xla
