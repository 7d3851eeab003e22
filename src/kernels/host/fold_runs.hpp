// The inner loops of folds: dense runs of elements, with the widest vectors of the machine.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>

namespace partita::kernels {

/// Dense runs of elements, one `stride` bytes after the other.
struct Runs {
  const void* first = nullptr;
  std::int64_t length = 0;  ///< of each, in elements
  std::int64_t count = 1;
  std::int64_t stride = 0;
};

/// E: the type in which elements are reduced: std::uint8_t to std::uint64_t, std::int8_t to std::int64_t,
/// float, double, std::complex<double>.
template <class E>
struct RunFold {
  E (*total)(const void* run, std::int64_t count) = nullptr;
  /// sums[j] = the reduction of sums[j] and element j of all runs, in their order.
  void (*join)(E* sums, const Runs& runs) = nullptr;
};

/// What is reduced of each element.
enum class RunOf : std::uint8_t { values, squares, truths };

/// For runs of `stored` elements. Null: there are none for this dtype, and elements have to be loaded as E
/// first; for values of type E there always are. The number of partial results of a run is fixed, so its bits
/// do not depend on the machine. A NaN in a min or max wins. Thread-safe.
template <class E>
RunFold<E> run_fold(Dtype stored, Reduction reduction, RunOf what);

}  // namespace partita::kernels
