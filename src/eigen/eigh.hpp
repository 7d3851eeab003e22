// Eigenvalues of Hermitian matrices, divided until parts are small.
#pragma once

#include <vector>

#include "eigen/matrices.hpp"

namespace partita::eigen {

/// Eigenvalues by their numbers in ascending order.
struct EigenRange {
  std::int64_t first = 0, behind = 0;

  std::int64_t count() const { return behind - first; }
  /// Those of a part that has the numbers [begin, end).
  EigenRange within(std::int64_t begin, std::int64_t end) const;
};
/// Of n.
EigenRange range_of(const EigenOptions& options, std::int64_t n);

/// Values, ascending and on every rank, and vectors in the distribution of factorizations. `a`: both
/// triangles, finite. Only those of the range. Collective, blocking.
struct Spectrum {
  std::vector<double> values;
  Array vectors;
};
Spectrum spectrum(const Matrices& matrices, const Array& a, EigenRange range, std::int64_t base,
                  bool vectors);
/// All of them.
Spectrum spectrum(const Matrices& matrices, const Array& a, std::int64_t base, bool vectors);

}  // namespace partita::eigen
