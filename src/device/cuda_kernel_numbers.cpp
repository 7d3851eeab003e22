#include "device/cuda_kernel_numbers.hpp"

namespace partita {
namespace {

/// Common numbers, sums, minima and maxima.
bool joins(cuda::Element element, cuda::Operation operation) {
  using enum cuda::Element;
  if (operation > cuda::Operation::max) return false;
  return element == i32 || element == i64 || element == f16 || element == bf16 || element == f32 ||
         element == f64;
}

}  // namespace

std::optional<KernelNumbers> kernel_numbers(Dtype dtype, Reduction reduction) {
  if (!is_defined(reduction, dtype)) return std::nullopt;
  auto element = static_cast<cuda::Element>(dtype);
  const auto operation = static_cast<cuda::Operation>(reduction);
  if (operation == cuda::Operation::sum) {
    if (dtype == Dtype::c64) element = cuda::Element::f32;
    if (dtype == Dtype::c128) element = cuda::Element::f64;
    if (dtype == Dtype::u32) element = cuda::Element::i32;
    if (dtype == Dtype::u64) element = cuda::Element::i64;
  }
  if (!joins(element, operation)) return std::nullopt;
  return KernelNumbers{element, operation};
}

}  // namespace partita
