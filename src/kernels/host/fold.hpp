// Reductions of many elements into few.
#pragma once

#include <cstdint>
#include <optional>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>
#include <vector>

#include "kernels/host/elementwise.hpp"

namespace partita::kernels {

/// to[k] = the reduction over r of a[k, r] (and b[k, r]): sum, product, min or max, `reduction`. `to` has the
/// accumulation dtype: i64 for signed integers and booleans, u64 for unsigned integers and logical
/// reductions, f64 for all real numbers, c128 for complex ones; its strides in the loops over r are 0.
struct FoldPass {
  Reduction reduction = Reduction::sum;
  Folded folded = Folded::value;
  Dtype dtype = Dtype::f64;   ///< of a and b
  Dtype joined = Dtype::f64;  ///< of `to`
  std::array<void*, 3> data{};
  std::vector<ElementwiseLoop> kept;  ///< over k; no count is 0
  std::vector<ElementwiseLoop> over;  ///< over r; a count of 0: the identity of the reduction
  double factor = 1;                  ///< of squares of f64 and c128; others take none
};

/// As of an ElementwisePass: what is kept in the order of `to`, the others in that of `a`.
FoldPass simplify(FoldPass pass);

/// In a fixed order, pairwise. `pass` is simplified. A NaN in a min or max wins. Thread-safe.
void fold(const FoldPass& pass);

/// From `least` to `most`, both included.
struct Between {
  double least, most;
  bool contains(double x) const { return x >= least && x <= most; }
};

/// to[k] = the result for the accumulated value: its root, or a quotient, rounded to the result's dtype.
struct FinishPass {
  Dtype joined = Dtype::f64;
  Dtype result = Dtype::f64;
  bool root = false;
  double divisor = 1;
  std::optional<Between> replaced{};   ///< of f64: results outside of it stay as they are
  std::array<void*, 2> data{};         ///< to, from; they do not overlap
  std::vector<ElementwiseLoop> loops;  ///< no count is 0
};

/// Joined integers become integers or booleans, floating numbers such, complex ones such. Thread-safe.
void finish(const FinishPass& pass);

}  // namespace partita::kernels
