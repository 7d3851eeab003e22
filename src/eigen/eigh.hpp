// Eigenvalues of Hermitian matrices, divided until parts are small.
#pragma once

#include <vector>

#include "eigen/matrices.hpp"

namespace partita::eigen {

/// Values, ascending and on every rank, and vectors in the distribution of factorizations. `a`: both
/// triangles, finite. Collective, blocking.
struct Spectrum {
  std::vector<double> values;
  Array vectors;
};
Spectrum spectrum(const Matrices& matrices, const Array& a, std::int64_t base, bool vectors);

}  // namespace partita::eigen
