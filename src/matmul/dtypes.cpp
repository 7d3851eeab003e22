#include "matmul/dtypes.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.hpp"

namespace partita::multiplication {
namespace {

bool is_half(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16;
}

std::vector<ComputeType> compute_types(Dtype factors) {
  using enum ComputeType;
  if (factors == Dtype::f16) return {f32, f16};
  if (factors == Dtype::f32 || factors == Dtype::c64) return {f32, tf32, bf16x9};
  if (factors == Dtype::f64 || factors == Dtype::c128) return {f64};
  return {f32};
}

std::vector<Dtype> scale_dtypes(Dtype factors, ComputeType compute) {
  if (compute == ComputeType::f16) return {Dtype::f16, Dtype::f32};
  return {sum_dtype(factors)};
}

template <class Names>
std::string listed(const Names& values) {
  std::vector<std::string_view> names;
  for (const auto value : values) names.push_back(name(value));
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_compute(Dtype factors, const MatmulOptions& options) {
  const std::vector<ComputeType> known = compute_types(factors);
  const ComputeType compute = options.compute == ComputeType::automatic ? known.front() : options.compute;
  check<UnsupportedError>(std::ranges::find(known, compute) != known.end(),
                          "cannot compute in {} with matrices of {}: supported: {}", name(compute),
                          name(factors), listed(known));
  const std::vector<Dtype> scales = scale_dtypes(factors, compute);
  check<UnsupportedError>(
      !options.scale || std::ranges::find(scales, *options.scale) != scales.end(),
      "cannot take alpha and beta in {} with matrices of {} computed in {}: supported: {}",
      name(options.scale.value_or(factors)), name(factors), name(compute), listed(scales));
}

}  // namespace

Dtype sum_dtype(Dtype factors) {
  return is_half(factors) ? Dtype::f32 : factors;
}

Dtype result_dtype(Dtype factors, const MatmulOptions& options) {
  return options.result.value_or(factors);
}

void check_dtypes(Dtype a, Dtype b, Dtype d, const MatmulOptions& options) {
  constexpr const char* supported =
      "supported are f32, f64, c64 and c128 (resulting in the same), and f16 and bf16 (resulting in the same "
      "or f32)";
  check(a == b, "cannot multiply {} by {}: {}", name(a), name(b), supported);
  const bool known = is_half(a) || a == Dtype::f32 || a == Dtype::f64 || is_complex(a);
  check(known, "cannot multiply matrices of {}: {}", name(a), supported);
  check(d == a || (is_half(a) && d == Dtype::f32), "cannot multiply matrices of {} into one of {}: {}",
        name(a), name(d), supported);
  const Dtype wanted = options.result.value_or(d);
  check(wanted == d, "the result is asked for in {}, but D is {}", name(wanted), name(d));
  check_compute(a, options);
}

}  // namespace partita::multiplication
