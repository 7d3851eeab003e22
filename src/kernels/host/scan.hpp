// Sums and products of the elements up to each one.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels {

/// to[l, k, i] = from[l, 0, i] + ... + from[l, k, i], or their product; both dense. In place allowed, of one
/// dtype.
struct ScanPass {
  Dtype dtype = Dtype::f64;       ///< in which elements are joined; integers wrap around
  Dtype from_dtype = Dtype::f64;  ///< the same, or one that `is_widened_in_scans`
  bool product = false;
  std::int64_t lines = 1, length = 0, inner = 1;
  const void* from = nullptr;
  void* to = nullptr;
};

/// Whether it is a dtype of such passes: booleans and floating-point numbers of 8 and 16 bits are not.
bool is_scanned_here(Dtype dtype);

/// Whether elements of a dtype are converted to another one while they are read.
constexpr bool is_widened_in_scans(Dtype from, Dtype to) {
  return (from == Dtype::f32 && to == Dtype::f64) || (from == Dtype::u32 && to == Dtype::u64) ||
         ((from == Dtype::i32 || from == Dtype::boolean) && to == Dtype::i64);
}

/// Thread-safe.
void scan(const ScanPass& pass);

}  // namespace partita::kernels
