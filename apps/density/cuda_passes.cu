#include "density/deposit.hpp"
#include "density/passes.hpp"
#include "device/for_each.cuh"

namespace on_device::cuda {

#include "density/cuda_passes.inc"

}  // namespace on_device::cuda
