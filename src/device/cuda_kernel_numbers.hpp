// Types and reductions as the joining kernels know them.
#pragma once

#include <optional>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>

#include "kernels/cuda/launch.hpp"

namespace partita {

struct KernelNumbers {
  cuda::Element element;
  cuda::Operation operation;
};

/// Sums of complex numbers are sums of twice as many real ones. Nothing where the kernels do not join these.
std::optional<KernelNumbers> kernel_numbers(Dtype dtype, Reduction reduction);

}  // namespace partita
