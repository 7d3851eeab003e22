// Eigenvalues and singular values of matrices in host memory, by LAPACK.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/host/factorizations.hpp"
#include "kernels/host/lapack_library.hpp"

namespace partita::kernels {

/// values = the eigenvalues, ascending, of a Hermitian matrix whose lower triangle is given. With `vectors`
/// the matrix becomes the eigenvectors; otherwise it is destroyed. Allocates workspace. Throws Error if
/// LAPACK's iteration does not converge, UnsupportedError where there is no LAPACK or the matrix exceeds its
/// sizes.
template <class T>
void eigen_hermitian(const ColumnMatrix<T>& a, RealType<T>* values, bool vectors);

/// Those numbered first, .., first + vectors.columns - 1, from 0 on, and their vectors [n, columns]; the
/// matrix is destroyed. If they are few, others are not computed.
template <class T>
void some_eigenvectors(const ColumnMatrix<T>& a, std::int64_t first, RealType<T>* values,
                       const ColumnMatrix<T>& vectors);

/// a = u diag(values) vh for a matrix [m, n], which is destroyed, with k = min(m, n) values. With `vectors` u
/// [m, k] and vh [k, n] are written.
template <class T>
void singular_values(const ColumnMatrix<T>& a, RealType<T>* values, bool vectors, const ColumnMatrix<T>& u,
                     const ColumnMatrix<T>& vh);

}  // namespace partita::kernels
