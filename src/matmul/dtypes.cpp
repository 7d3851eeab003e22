#include "matmul/dtypes.hpp"

#include <fmt/ranges.h>

#include "base/check.hpp"
#include "base/contains.hpp"
#include "base/half.hpp"

namespace partita::multiplication {
namespace {

/// The dtypes that products of factors of this dtype may have, the default first. Empty: there are none.
std::vector<Dtype> result_dtypes(Dtype factors) {
  using enum Dtype;
  if (is_float8(factors)) return {f32, f16, bf16, f8e4m3, f8e5m2};
  if (factors == f16 || factors == bf16) return {factors, f32};
  if (factors == i8) return {i32};
  if (factors == f32 || factors == f64 || is_complex(factors)) return {factors};
  return {};
}

std::vector<ComputeType> compute_types(Dtype factors) {
  using enum ComputeType;
  if (factors == Dtype::f16) return {f32, f16};
  if (factors == Dtype::f32 || factors == Dtype::c64) return {f32, tf32, bf16x9};
  if (factors == Dtype::f64 || factors == Dtype::c128) return {f64};
  if (factors == Dtype::i8) return {i32};
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
  check<UnsupportedError>(contains(known, compute), "cannot compute in {} with matrices of {}: supported: {}",
                          name(compute), name(factors), listed(known));
  const std::vector<Dtype> scales = scale_dtypes(factors, compute);
  check<UnsupportedError>(
      !options.scale || contains(scales, *options.scale),
      "cannot take alpha and beta in {} with matrices of {} computed in {}: supported: {}",
      name(options.scale.value_or(factors)), name(factors), name(compute), listed(scales));
}

void check_reduce(Dtype factors, Dtype d, const MatmulOptions& options) {
  std::vector<Dtype> known{sum_dtype(factors)};
  if (d == Dtype::f16 || d == Dtype::bf16) known.push_back(d);
  check<UnsupportedError>(!options.reduce_dtype || contains(known, *options.reduce_dtype),
                          "cannot reduce sums of matrices of {} into one of {} in {}: supported: {}",
                          name(factors), name(d), name(options.reduce_dtype.value_or(d)), listed(known));
}

}  // namespace

Dtype sum_dtype(Dtype factors) {
  if (factors == Dtype::i8) return Dtype::i32;
  return is_small_float(factors) ? Dtype::f32 : factors;
}

void check_dtypes(Dtype a, Dtype b, Dtype d, const MatmulOptions& options) {
  constexpr const char* supported =
      "supported are f32, f64, c64 and c128 (resulting in the same), f16 and bf16 (resulting in the same or "
      "f32), i8 (resulting in i32), f8e4m3 and f8e5m2 (in any combination; resulting in f32, f16, bf16 or "
      "either)";
  check(a == b || (is_float8(a) && is_float8(b)), "cannot multiply {} by {}: {}", name(a), name(b),
        supported);
  const std::vector<Dtype> known = result_dtypes(a);
  check(!known.empty(), "cannot multiply matrices of {}: {}", name(a), supported);
  check(contains(known, d), "cannot multiply matrices of {} into one of {}: {}", name(a), name(d), supported);
  const Dtype wanted = options.result.value_or(d);
  check(wanted == d, "the requested dtype of the result is {}, but D is {}", name(wanted), name(d));
  check_compute(a, options);
  check_reduce(a, d, options);
}

}  // namespace partita::multiplication

namespace partita {

Dtype result_dtype(Dtype factors, const MatmulOptions& options) {
  const std::vector<Dtype> known = multiplication::result_dtypes(factors);
  return options.result.value_or(known.empty() ? factors : known.front());
}

}  // namespace partita
