// Eigenvalues and singular values by one rank.
#pragma once

#include <cstdint>

#include "eigen/eigh.hpp"

namespace partita::eigen {

/// The largest matrix that one rank should compute: dividing takes some ten times the operations, but all
/// ranks share them, and they are products.
std::int64_t base_rows(const Matrices& matrices, const EigenOptions& options);

/// The same of singular values, which the host computes.
std::int64_t base_rows_of_svd(const Matrices& matrices, const EigenOptions& options);

/// Eigenvalues of the range on every rank, ascending; `vectors` receives the eigenvectors unless it is null.
std::vector<double> direct_eigen(const Matrices& matrices, const Array& a, EigenRange range, Array* vectors);
/// Singular values of a square matrix on every rank, descending; `u` and `vh` receive the vectors unless they
/// are null.
std::vector<double> direct_svd(const Matrices& matrices, const Array& a, Array* u, Array* vh);

}  // namespace partita::eigen
