// What a reduction reduces, in which dtype, and its result; and the part of it that each rank does alone.
#pragma once

#include <partita/array_reductions.hpp>
#include <string_view>
#include <vector>

#include "array/array_state.hpp"
#include "kernels/host/fold.hpp"

namespace partita::arithmetic {

struct Folding {
  Reduction reduction = Reduction::sum;  ///< of what is reduced
  kernels::Folded folded = kernels::Folded::value;
  Dtype joined = Dtype::f64;
  Dtype result = Dtype::f64;
  bool root = false;     ///< of what has been reduced
  bool divided = false;  ///< by the number of elements
  bool needs_elements = false;
  /// Of norms: of elements before they are squared. Not 1: only results that squares without it have lost are
  /// written.
  double factor = 1;
};

/// The factors with which norms are to be computed again, where squares have overflowed or are so small that
/// they have lost digits; `least` and `most`: of the norms so far.
std::vector<double> factors_for(double least, double most);
/// Whether squares of the dtype may.
bool squares_leave_range(const Folding& folding, Dtype dtype);

/// Throws ArgumentError where it is not defined for the dtype.
Folding folding_of(ArrayReduction reduction, Dtype dtype);
Folding inner_product_of(Dtype dtype, bool conjugated);

/// Whether the rank's elements are to be counted: of replicas one is.
bool counts(const Layout& layout, int rank);

/// Where the result is written: element k of the kept dimensions is `strides` from `data`, by position in the
/// rank's part, or, where `by_index`, by index in the array.
struct Destination {
  void* data = nullptr;
  std::vector<int> kept;  ///< dimensions of the array
  Strides strides;        ///< one each
  bool by_index = false;
};

/// This rank's part reduced along all dimensions but the kept ones: in host memory, or in device memory on
/// `stream` (what `put_into_stream` gave). `other`: for products; null: none. The part has elements.
void fold_part(const Folding& folding, const Array& array, const Array* other, const Destination& to,
               Stream stream);

/// result = the final value of `joined`, each reduced from `count` elements; both are dense. As
/// above.
void finish_part(ContextState& context, const Folding& folding, const View& joined, const View& result,
                 std::int64_t count, Stream stream);

/// Memory of the context's device that folds use, in the order of streams:
/// `DeviceArithmetic::fold_scratch_bytes`. After `make_fold_scratch`.
char* fold_scratch(ContextState& context);
/// Allocates it for the first array in device memory. Collective, blocking; MemoryError on every rank.
void make_fold_scratch(std::string_view operation, const Array& array);
/// To be called inside a collective check: UnsupportedError if a stream is captured, since the host
/// waits for the array's folds in `stream`.
void check_folds(std::string_view operation, const Array& array, const std::optional<Stream>& stream);

}  // namespace partita::arithmetic
