// Eigenvalues of Hermitian matrices, singular values, polar decompositions, condition numbers.
#pragma once

#include <cstdint>
#include <partita/array.hpp>
#include <partita/linalg.hpp>
#include <string_view>

namespace partita {

/// Arguments are matrices as in <partita/linalg.hpp>. Results are new arrays: vectors in the layout of A
/// where it has their shape, otherwise in a Slab, in A's order and memory space, on the symmetric heap;
/// values in f32 (of f32 and c64) or f64, replicated. All functions are collective and blocking. Errors, the
/// same on every rank: ArgumentError (also for NaN and infinity, where it says so), UnsupportedError,
/// DisagreementError, MemoryError, TimeoutError; Error if an iteration of LAPACK does not converge.
///
/// `eigh`, `eigvalsh`, `svd` and `svdvals` also take batches [.., m, n], see <partita/linalg.hpp>; values are
/// then distributed by a leading dimension.
///
/// Matrices of up to `EigenOptions::base` rows are computed by one rank, whose memory must hold them: by
/// LAPACK on the host (syevd, heevd, for few eigenvalues syevr, heevr, and gesdd), or by cuSOLVER on a device
/// (eigenvalues only; singular values are then those of the polar decomposition). Larger ones are divided:
/// the polar factor of A - sigma I separates the eigenvalues above sigma from those below (spectral divide
/// and conquer, QDWH-eig; Nakatsukasa and Higham 2013), by products, Cholesky and QR factorizations of all
/// ranks, until the parts are small.

/// Options of `eigh`, `svd` and what is based on them.
struct EigenOptions {
  /// Rows of the largest matrix that one rank computes; 0: chosen by the number of ranks and the memory
  /// space.
  std::int64_t base = 0;
  /// The triangle of a Hermitian matrix that is read; the other one is not.
  bool upper = false;
  /// Of `eigh` and `eigvalsh`: the eigenvalues numbered first, .., first + count - 1, from 0 on in ascending
  /// order, are returned; count -1: all behind the first. Vectors of others are not computed, unless one
  /// rank does and they are more than a quarter, or on a device.
  std::int64_t first = 0;
  std::int64_t count = -1;  ///< how many from `first` on
};

/// A = U H.
struct PolarFactors {
  Array u;  ///< [m, n], orthonormal columns
  Array h;  ///< [n, n], Hermitian positive semidefinite
};
/// The polar decomposition of A [m, n] with m >= n, by the QDWH iteration (Nakatsukasa, Bai and Gygi 2010),
/// in at most seven steps. For a matrix without full rank U is one of several. ArgumentError for NaN and
/// infinity.
PARTITA_API PolarFactors polar(const Array& a, SourcePlace where = SourcePlace::current());

/// A = V diag(values) V^H.
struct EigenFactors {
  Array values;   ///< [k], ascending; k = n unless the options select some
  Array vectors;  ///< [n, k], orthonormal columns; empty if they were not asked for
};
/// Eigenvalues and eigenvectors of a Hermitian matrix [n, n], of which one triangle is read.
/// ArgumentError for NaN and infinity, and for numbers of eigenvalues outside of [0, n).
PARTITA_API EigenFactors eigh(const Array& a, const EigenOptions& options = {},
                              SourcePlace where = SourcePlace::current());
/// Only the eigenvalues, [k], ascending.
PARTITA_API Array eigvalsh(const Array& a, const EigenOptions& options = {},
                           SourcePlace where = SourcePlace::current());

/// A = U diag(s) V^H, with k = min(m, n).
struct SvdFactors {
  Array u;       ///< [m, k], orthonormal columns
  Array values;  ///< [k], descending, not negative
  Array vh;      ///< [k, n], orthonormal rows
};
/// The singular value decomposition of A [m, n]. ArgumentError for NaN and infinity.
PARTITA_API SvdFactors svd(const Array& a, const EigenOptions& options = {},
                           SourcePlace where = SourcePlace::current());
/// Only the singular values, [min(m, n)], descending.
PARTITA_API Array svdvals(const Array& a, const EigenOptions& options = {},
                          SourcePlace where = SourcePlace::current());

}  // namespace partita
