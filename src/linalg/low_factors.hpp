// The factors of a matrix in lower precision.
#pragma once

#include <memory>
#include <optional>
#include <partita/linalg.hpp>
#include <vector>

#include "linalg/factors.hpp"

namespace partita::linear {

/// f32 for f64, c64 for c128, otherwise the same.
Dtype lower_dtype(Dtype dtype);

/// Factors of R A C in the lower dtype, where R and C are diagonal matrices of powers of two with which that
/// dtype represents the numbers of A. All functions are collective and blocking.
class LowFactors {
 public:
  /// The norms of rows and columns of A.
  struct Norms {
    std::vector<double> rows, columns;
  };
  /// `method`: lu or cholesky. Throws SingularError if the rounded matrix is singular or not positive
  /// definite.
  LowFactors(Factorization method, const Array& a, const Norms& norms, ComputeType compute,
             SourcePlace where);

  /// An approximation of op(A)^-1 B. B is in the dtype and memory space of A, in Slab(0); so is the result.
  /// `norms`: those of the columns of B.
  Array solve(const Array& b, const std::vector<double>& norms, Op op) const;

 private:
  Array scaled_copy(Factorization method, const Array& a, const Norms& norms);
  std::optional<Array> rows_, columns_;  // the scales, [n] and [n]
  std::unique_ptr<Factors> factors_;
};

}  // namespace partita::linear
