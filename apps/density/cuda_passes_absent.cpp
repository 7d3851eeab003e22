#include <partita/error.hpp>

#include "density/deposit.hpp"
#include "density/passes.hpp"

namespace on_device::cuda {

template <class Body>
void for_each(const Body& /*body*/, std::int64_t /*count*/, void* /*stream*/) {
  throw partita::UnsupportedError("this build has no CUDA");
}

template <class Body>
void for_each_cell(const Body& /*body*/, const std::array<std::int64_t, 3>& /*extents*/, void* /*stream*/) {
  throw partita::UnsupportedError("this build has no CUDA");
}
template <class Body>
void for_each_group(const Body& /*body*/, std::int64_t /*groups*/, void* /*stream*/) {
  throw partita::UnsupportedError("this build has no CUDA");
}

#include "density/cuda_passes.inc"

}  // namespace on_device::cuda
