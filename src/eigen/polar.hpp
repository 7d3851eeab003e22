// The unitary polar factor.
#pragma once

#include "eigen/matrices.hpp"

namespace partita::eigen {

/// U of A = U H for a finite A [m, n], m >= n, in the distribution of factorizations. Collective, blocking.
Array unitary_factor(const Matrices& matrices, const Array& a);

}  // namespace partita::eigen
