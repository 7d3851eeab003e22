// LAPACK in one process, from the BLAS library that Partita uses: the bound of factorizations and solves.
#pragma once

#include <partita/work.hpp>
#include <string>
#include <vector>

namespace partita::benchmarks {

/// A factorization of an n x n matrix in f64, and with it solves for `sides` right-hand sides. Column-major,
/// dense. Local, not thread-safe.
class Lapack {
 public:
  /// Throws UnsupportedError if the BLAS library has no LAPACK.
  Lapack(Factorization kind, int n);

  /// In place. Throws Error if the matrix is singular.
  void factorize(double* a);
  /// In place, with the factors of the latest `factorize`. LU and Cholesky.
  void solve(const double* a, double* b, int sides) const;

 private:
  Factorization kind_;
  int n_;
  std::vector<int> pivots_;
  std::vector<double> tau_, work_;
};

/// The other side of `Apart` for "lapack:lu:4096:0", with one thread per core: a factorization, or, if the
/// last number is not 0, a solve for so many right-hand sides. "lapack:eigh:2000:0": eigenvalues and
/// eigenvectors by dsyevd.
void serve_lapack(const std::string& what);

}  // namespace partita::benchmarks
