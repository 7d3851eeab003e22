// Dense linear algebra: factorizations, linear systems, least squares, inverses and determinants.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/array.hpp>
#include <partita/compute_type.hpp>
#include <partita/distribution.hpp>
#include <partita/machine.hpp>
#include <partita/op.hpp>
#include <partita/operand.hpp>
#include <partita/plan.hpp>
#include <partita/stream.hpp>
#include <partita/work.hpp>
#include <string>

namespace partita {

/// Matrices are arrays of two dimensions in f32, f64, c64 or c128: in any distribution, memory order,
/// residency and memory space, of any size from 0. The library computes in another distribution,
/// `BlockCyclic({1, P}, {m, block})` by columns on the symmetric heap, or for Cholesky and LU also
/// `BlockCyclic({Pr, Pc}, {block, block})` on a grid of ranks, to and from which it redistributes; `explain`
/// shows these redistributions. If an array is in device memory, the device computes. On the host
/// the factorizations of panels are LAPACK's, from the BLAS library that is used; on devices cuSOLVER's.
/// UnsupportedError, with what to install, if there is none.
///
/// Batches: `solve`, `solve_triangular`, `lstsq`, `cholesky`, `inverse`, `qr`, `log_determinants`, and
/// `eigh`, `eigvalsh`, `svd` and `svdvals` of <partita/eigen.hpp> also take arrays [.., m, n], as in NumPy. B
/// then has the same leading dimensions, or is [m] or [m, r] for all matrices; with a stream the host waits.
/// If the matrices are small, or as many as the ranks along a leading dimension, they are redistributed by
/// that dimension and each is computed by LAPACK on the host of one rank, without communication (from device
/// memory only up to 512 rows); otherwise all ranks compute one after the other. Results that do not have the
/// shape of A (or B) are in a `Slab` of a leading dimension. An error names the matrix, and no result is
/// returned.
///
/// Algorithms: right-looking factorizations with a look-ahead of one panel (Dongarra, Duff, Sorensen and van
/// der Vorst 1998, chapter 5): LU with partial pivoting, of whole columns, which one rank owns, so that ranks
/// exchange no rows, or with tournament pivoting on a grid of ranks (Grigori, Demmel and Xiang 2011);
/// Cholesky, by whole columns or blocks on a grid of ranks; QR by blocks of Householder reflectors (Schreiber
/// and Van Loan 1989). `qr` and `lstsq` of matrices with many more rows than columns:
/// see `qr`.
///
/// Errors, the same on every rank: ArgumentError (shapes, dtypes, contexts; arrays that overlap),
/// SingularError, UnsupportedError, DisagreementError, MemoryError, TimeoutError.

/// How LU chooses its pivots.
enum class Pivoting : std::uint8_t {
  automatic,  ///< partial with whole columns, tournament on grids of several rows
  partial,    ///< of each column the largest element that is left; whole columns only
  /// Rows are chosen for whole panels: by each rank that shares the panel from its own rows, and then along a
  /// binary tree of these ranks from the rows of two, by partial pivoting each time. That takes fewer
  /// messages than partial pivoting. Elements may grow more, but in practice hardly do. With whole columns,
  /// whose panels belong to one rank each, it is partial pivoting.
  tournament,
};
template <>
struct OptionWords<Pivoting> {
  static constexpr std::string_view what = "pivoting";
  static constexpr std::string_view words[]{"automatic", "partial", "tournament"};
};

/// Options of a factorization.
struct FactorOptions {
  /// Columns of a panel; 0: chosen by the planner.
  std::int64_t block = 0;
  /// The matrix may be overwritten by its factors. It is if it is in the library's own distribution,
  /// column-major and on the heap; no further memory of its size is then allocated.
  bool overwrite = false;
  /// Minimum precision of the products of LU and Cholesky factorizations: f32, tf32 or bf16x9 for f32 and
  /// c64, f64 for f64 and c128, with the meanings of `MatmulOptions::compute`. Panels, and the products of
  /// QR, are computed in the dtype of the matrix. UnsupportedError if it does not suit the dtype.
  ComputeType compute = ComputeType::automatic;
  /// {Pr, Pc}, with Pr Pc = P: rows and columns of the grid of ranks, in row-major order, over which the
  /// factors are distributed; {1, P}: whole columns. Empty: chosen by the planner, which takes whole columns
  /// on one node and between nodes what costs less. UnsupportedError for grids of more than one row for QR,
  /// and for LU in device memory or with partial pivoting.
  Extents grid = {};
  /// Of LU. `tournament` lets the planner choose a grid on one node, too, where it costs less.
  Pivoting pivoting = Pivoting::automatic;
  /// Bound on the scratch of one rank besides the factors, in bytes; 0: unlimited. Panels of whole columns
  /// that `block` leaves open become narrower to fit. ArgumentError, which says how much is required, if that
  /// does not suffice. On devices it includes neither the workspace of cuSOLVER nor copies of arrays in host
  /// memory.
  std::int64_t memory_limit = 0;
};

/// Options of a solve, and of what it allocates.
struct SolveOptions {
  /// Solves op(A) X = B.
  Op op = Op::none;
  /// If set, the solve is stream-ordered (<partita/stream.hpp>), for arrays in device memory.
  std::optional<Stream> stream = {};
  std::optional<Distribution> distribution = {};  ///< of a new X; unset: that of B, or rows over all ranks
  Order order = Order::row_major;                 ///< of a new X
  Residency residency = Residency::heap;          ///< of a new X
  std::optional<MemorySpace> space = {};          ///< of a new X; unset: B's
  /// `FactorOptions::memory_limit` of the solve, and of the factorization that `solve` or `lstsq` of one
  /// matrix computes; CholeskyQR2 and TSQR have none.
  std::int64_t memory_limit = 0;
};

/// Norms of matrices.
enum class MatrixNorm : std::uint8_t {
  one,       ///< the largest sum of the absolute values of a column
  infinity,  ///< the largest sum of the absolute values of a row
};
template <>
struct OptionWords<MatrixNorm> {
  static constexpr std::string_view what = "norm of a matrix";
  static constexpr std::string_view words[]{"one", "infinity"};
};

/// The determinant of a matrix: det A = sign exp(log_absolute).
struct LogDeterminant {
  std::complex<double> sign = 1;  ///< of absolute value 1; 0 for a singular matrix
  double log_absolute = 0;        ///< natural logarithm of |det A|; -infinity for a singular matrix
};

namespace linear {
class Factors;
}

/// The factorization A = L L^H of a Hermitian positive definite matrix [n, n], of which the lower triangle is
/// read. Factorized once, it solves many times. A move-only handle; not thread-safe, but different objects
/// may be used by different threads.
///
/// All functions are collective and blocking unless they say otherwise.
class PARTITA_API Cholesky {
 public:
  /// Factorizes. SingularError if A is not positive definite; it gives the order of the first leading minor
  /// that is not, minus one.
  explicit Cholesky(const Array& a, const FactorOptions& options = {},
                    SourcePlace where = SourcePlace::current());
  /// The factorization whose L is the lower triangle of `l`, which is copied.
  static Cholesky from_lower(const Array& l, SourcePlace where = SourcePlace::current());
  ~Cholesky();
  Cholesky(Cholesky&&) noexcept;
  Cholesky& operator=(Cholesky&&) noexcept;

  /// Another matrix, of the same operand and context; the memory is used again. With `overwrite` the object
  /// refers to the new matrix. After an error the object holds no factorization until the next `factorize`.
  void factorize(const Array& a);
  /// X with op(A) X = B, for one right-hand side [n] or several [n, r], in the dtype of A. B is kept.
  Array solve(const Array& b, const SolveOptions& options = {},
              SourcePlace where = SourcePlace::current()) const;
  /// As above, into a given array of the shape of B, which may be B itself and otherwise does not overlap it.
  /// What the options say of a new X is not used.
  void solve_into(const Array& b, Array& x, const SolveOptions& options = {}) const;
  LogDeterminant log_determinant() const;  ///< of A
  /// The condition number |A| |A^-1|, as `condition` estimates it. `norm`: the norm |A|, see
  /// `matrix_norm`, because the object does not keep A.
  double condition(double norm, MatrixNorm which = MatrixNorm::one) const;
  /// L, with zeros above the diagonal, in A's layout, order and residency, in new memory.
  Array lower(SourcePlace where = SourcePlace::current()) const;
  /// L into a given array of A's shape and dtype, in any layout; it may be A. Elements above the diagonal are
  /// undefined afterwards.
  void lower_into(Array& array) const;

  const Plan& plan() const;  ///< of the factorization, of this rank. Local
  /// The plan as text. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  explicit Cholesky(std::unique_ptr<linear::Factors> factors);
  std::unique_ptr<linear::Factors> factors_;
};

/// The factorization P A = L U of a matrix [m, n], with partial pivoting, or on a grid of ranks with several
/// rows with tournament pivoting (`FactorOptions::pivoting`). As `Cholesky` otherwise.
class PARTITA_API Lu {
 public:
  /// Factorizes. A singular matrix is not an error here (see `singular`), as in LAPACK's getrf.
  explicit Lu(const Array& a, const FactorOptions& options = {}, SourcePlace where = SourcePlace::current());
  /// The factorization that `packed()` and `pivots()` describe, in any layout; both are copied. ArgumentError
  /// if a pivot is out of range.
  static Lu from_packed(const Array& packed, const Array& pivots, SourcePlace where = SourcePlace::current());
  ~Lu();
  Lu(Lu&&) noexcept;
  Lu& operator=(Lu&&) noexcept;

  void factorize(const Array& a);  ///< see Cholesky::factorize
  /// See Cholesky::solve. ArgumentError if A is not square; SingularError if it is singular.
  Array solve(const Array& b, const SolveOptions& options = {},
              SourcePlace where = SourcePlace::current()) const;
  void solve_into(const Array& b, Array& x, const SolveOptions& options = {}) const;
  /// ArgumentError if A is not square.
  LogDeterminant log_determinant() const;
  /// The condition number |A| |A^-1| of a square matrix, as `condition` estimates it. `norm`: the norm |A|,
  /// see `matrix_norm`, because the object does not keep A. Infinity if A is singular; ArgumentError if A is
  /// not square.
  double condition(double norm, MatrixNorm which = MatrixNorm::one) const;
  /// The first i with U(i, i) = 0, counted from 0; nothing if there is none. Local.
  std::optional<std::int64_t> first_zero_pivot() const;
  /// L below the diagonal (its own is 1) and U on and above it, as LAPACK's getrf stores them, in A's layout,
  /// order and residency, in new memory.
  Array packed(SourcePlace where = SourcePlace::current()) const;
  /// The same into a given array of A's shape and dtype, in any layout; it may be A.
  void packed_into(Array& array) const;
  /// [min(m, n)], i32, replicated, in A's memory space: row i was exchanged with row pivots[i], for i = 0, 1,
  /// ... in this order; SciPy's `piv`, and LAPACK's minus one. In new memory.
  Array pivots(SourcePlace where = SourcePlace::current()) const;

  const Plan& plan() const;  ///< of the factorization, of this rank. Local
  /// The plan as text. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  explicit Lu(std::unique_ptr<linear::Factors> factors);
  std::unique_ptr<linear::Factors> factors_;
};

/// The factorization A = Q R of a matrix [m, n], Q as a product of Householder reflectors. As `Cholesky`
/// otherwise.
class PARTITA_API Qr {
 public:
  /// Factorizes.
  explicit Qr(const Array& a, const FactorOptions& options = {}, SourcePlace where = SourcePlace::current());
  /// The factorization that `packed()` and `factors()` describe, in any layout; both are copied.
  static Qr from_packed(const Array& packed, const Array& factors,
                        SourcePlace where = SourcePlace::current());
  ~Qr();
  Qr(Qr&&) noexcept;
  Qr& operator=(Qr&&) noexcept;

  void factorize(const Array& a);  ///< see Cholesky::factorize
  /// The X that minimizes the 2-norm of A X - B, column by column; m >= n and full rank, B [m] or [m, r].
  /// With Op::conjugate_transpose: the X of the smallest 2-norm with A^H X = B, B [n] or [n, r], X [m] or [m,
  /// r]. SingularError if R has a zero on its diagonal. UnsupportedError for other values of `op` in complex
  /// dtypes.
  Array solve(const Array& b, const SolveOptions& options = {},
              SourcePlace where = SourcePlace::current()) const;
  /// As above, into a given array. It may be B if the two have one shape.
  void solve_into(const Array& b, Array& x, const SolveOptions& options = {}) const;
  /// [min(m, n), n]: R with zeros below the diagonal, in A's order and residency; in A's distribution if it
  /// is of A's shape or a Slab, otherwise `Slab(0)`. In new memory.
  Array r(SourcePlace where = SourcePlace::current()) const;
  /// R on and above the diagonal and the reflectors below it, as LAPACK's geqrf stores them, in A's layout,
  /// order and residency, in new memory.
  Array packed(SourcePlace where = SourcePlace::current()) const;
  /// The same into a given array of A's shape and dtype, in any layout; it may be A.
  void packed_into(Array& array) const;
  /// [min(m, n)]: the scalar factors tau of the reflectors, replicated, in A's memory space. In new memory.
  Array factors(SourcePlace where = SourcePlace::current()) const;
  /// [m, min(m, n)]: the first columns of Q. Layout as of `r`. In new memory.
  Array q(SourcePlace where = SourcePlace::current()) const;
  /// Q B, or with Op::conjugate_transpose (or Op::transpose in real dtypes) Q^H B, for B [m] or [m, r], with
  /// all m columns of Q. ArgumentError for other values of `options.op`.
  Array multiply_q(const Array& b, const SolveOptions& options = {},
                   SourcePlace where = SourcePlace::current()) const;

  const Plan& plan() const;  ///< of the factorization, of this rank. Local
  /// The plan as text. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  explicit Qr(std::unique_ptr<linear::Factors> factors);
  std::unique_ptr<linear::Factors> factors_;
};

// --- functions: plans are kept in the context, factors are not

/// X with op(A) X = B by LU with partial pivoting: see Lu::solve. SingularError if A is singular.
PARTITA_API Array solve(const Array& a, const Array& b, const SolveOptions& options = {},
                        SourcePlace where = SourcePlace::current());

/// Options of `solve_refined`.
struct RefineOptions : SolveOptions {
  /// lu, or cholesky for a Hermitian positive definite matrix, of which both triangles are read.
  Factorization method = Factorization::lu;
  /// `FactorOptions::compute` of the factorization in f32 or c64: with tf32 devices factorize faster, and
  /// more corrections are computed.
  ComputeType compute = ComputeType::automatic;
  /// The largest backward error of X that is accepted; 0: sqrt(n) times the distance from 1 to the next
  /// number of the dtype.
  double tolerance = 0;
  int iterations = 100;  ///< at most so many corrections
};
/// What `solve_refined` has done; the same on every rank.
struct Refinement {
  int iterations = 0;  ///< corrections of X: steps of iterative refinement and of GMRES
  /// The largest |B - op(A) X| / (|A| |X| + |B|) of a column, in 2-norms of columns and the Frobenius norm of
  /// A: X solves a system whose numbers differ from A and B by this multiple of their norms.
  double backward_error = 0;
  bool fell_back = false;  ///< X was computed by a factorization in the dtype of A
  std::string reason;      ///< why, in a sentence; empty unless it fell back
};
/// What `solve_refined` returns.
struct RefinedSolution {
  Array x;                ///< as `solve` returns it
  Refinement refinement;  ///< how it was found
};
/// X with op(A) X = B by a factorization in lower precision, f32 for f64 and c64 for c128, whose solution is
/// corrected until its backward error is that of a solution in the dtype of A: by iterative refinement, and
/// if that converges slowly by GMRES, preconditioned with the factors (Carson and Higham 2017; flexible
/// GMRES, Arioli and Duff 2009). Rows and columns are scaled by powers of two where f32 does not represent
/// the numbers of A. f32 and c64 are factorized in their own dtype, which serves with `compute`.
///
/// If the factorization fails, if A or B contain NaN or infinity, if more than max(16, n / 64) right-hand
/// sides require GMRES, or if the tolerance is not reached within `iterations`, A is factorized in its own
/// dtype as by `solve`, and the report says so. Collective, and always blocking: with a stream the call
/// begins after the work enqueued on it. Errors of `solve`; ArgumentError also for the method qr, and for a
/// tolerance or a number of iterations below 0.
PARTITA_API RefinedSolution solve_refined(const Array& a, const Array& b, const RefineOptions& options = {},
                                          SourcePlace where = SourcePlace::current());

/// Options of `solve_triangular`.
struct TriangularOptions : SolveOptions {
  bool upper = false;          ///< the triangle that is read; the other one is not
  bool unit_diagonal = false;  ///< the diagonal is not read, and is 1
};
/// X with op(T) X = B for a triangular matrix [n, n] and B [n] or [n, r]. SingularError if an element of the
/// diagonal is 0.
PARTITA_API Array solve_triangular(const Array& t, const Array& b, const TriangularOptions& options = {},
                                   SourcePlace where = SourcePlace::current());

/// The L of A = L L^H: see Cholesky::lower.
PARTITA_API Array cholesky(const Array& a, SourcePlace where = SourcePlace::current());

/// Q [m, min(m, n)] and R [min(m, n), n].
struct QrFactors {
  Array q;  ///< orthonormal columns
  Array r;  ///< upper triangular
};
/// A = Q R: layouts as of Qr::q and Qr::r. At most 512 columns and many more rows: by CholeskyQR2 (Yamamoto
/// et al. 2015) if it is faster; R then has a positive diagonal. If that is measured to be inaccurate, by
/// CholeskyQR3 with a shift, or by reflectors: of the rows of each rank, then of all triangles (TSQR; Demmel
/// et al. 2012), where rows of R may differ from those of `Qr` in their signs. Otherwise by `Qr`.
PARTITA_API QrFactors qr(const Array& a, SourcePlace where = SourcePlace::current());

/// A^-1, in A's layout, order and residency, by LU. SingularError if A is singular.
PARTITA_API Array inverse(const Array& a, SourcePlace where = SourcePlace::current());

/// Sign and logarithm of the determinant by LU, as NumPy's slogdet.
PARTITA_API LogDeterminant slogdet(const Array& a);

/// Determinants of a batch: det A = sign exp(log_absolute), as NumPy's slogdet.
struct LogDeterminants {
  Array sign;          ///< [..], in the dtype of A
  Array log_absolute;  ///< [..], in f32 (of f32 and c64) or f64
};
/// Of matrices [.., n, n], by LU.
PARTITA_API LogDeterminants log_determinants(const Array& a, SourcePlace where = SourcePlace::current());

/// The X that minimizes the 2-norm of A X - B by QR without column pivoting, for A [m, n] of full rank; if
/// m < n, the one of the smallest 2-norm with A X = B. SingularError if R has a zero on its diagonal; a
/// matrix that is nearly of lower rank is not detected. `options.op` must be none (ArgumentError). Matrices
/// with many more rows than columns as in `qr`, unless a stream is given or arrays are in both memory spaces.
PARTITA_API Array lstsq(const Array& a, const Array& b, const SolveOptions& options = {},
                        SourcePlace where = SourcePlace::current());

/// The norm of a matrix [m, n]; 0 if it is empty, NaN if it contains NaN. Collective, blocking.
PARTITA_API double matrix_norm(const Array& a, MatrixNorm which = MatrixNorm::one);

/// An estimate of the condition number |A| |A^-1| of a square matrix, by LU and at most eleven solves with
/// its factors (Hager 1984, Higham 1988; LAPACK's lacn2). It is a lower bound, and rarely below a third.
/// Infinity for a singular matrix, 0 for an empty one, NaN if A contains NaN.
PARTITA_API double condition(const Array& a, MatrixNorm which = MatrixNorm::one);

/// Options of `rank_k_update`.
struct RankUpdateOptions {
  /// If set, the call is stream-ordered (<partita/stream.hpp>), for arrays in device memory.
  std::optional<Stream> stream = {};
  /// none: A A^H for A [n, k]; conjugate_transpose: A^H A for A [k, n]. With `symmetric`: A A^T, and
  /// with transpose A^T A. In real dtypes both transposes are the same. ArgumentError for other values.
  Op op = Op::none;
  bool symmetric = false;  ///< transpose without conjugation: BLAS's syrk in complex dtypes, otherwise herk
  bool upper = false;      ///< the triangle that is computed
  std::complex<double> alpha{1, 0};              ///< real for Hermitian updates of complex matrices
  std::complex<double> beta{0, 0};               ///< real for Hermitian updates of complex matrices
  ComputeType compute = ComputeType::automatic;  ///< see MatmulOptions::compute
};
/// C = alpha A A^H + beta C, or as the options say, in one triangle of C [n, n], which includes the diagonal;
/// BLAS's herk and syrk. The other triangle is undefined afterwards. With beta = 0 C is not read. Where each
/// rank owns enough of every block of columns, blocks outside the triangle are not computed, which saves up
/// to half of the operations; otherwise it is one multiply. Imaginary parts of the diagonal, which are 0 in
/// exact arithmetic, may be rounding errors. Any distributions, orders and residencies. Collective, and
/// blocking without a stream. Errors of `matmul_into`.
PARTITA_API void rank_k_update(const Array& a, Array& c, const RankUpdateOptions& options = {});

// --- planning: pure functions, for any rank of any number of ranks, without MPI

/// The plan of one rank that factorizes a matrix. Buffers: 0 the matrix, 1 the factors, 2 the pivots (LU,
/// i32) or scalar factors of reflectors (QR) of all panels, replicated, 3 the status of each panel,
/// replicated, or on a grid as contributions to a sum; then scratch. If the matrix is overwritten in place,
/// buffers 0 and 1 are the same array. Cholesky has buffer 2, too, which it does not use. Row exchanges of a
/// panel of LU with whole columns are not applied to the panels before it; on a grid they are. Executed with
/// alpha = -1.
PARTITA_API Plan plan_factorization(Factorization kind, const Operand& a, const Topology& topology, int rank,
                                    const FactorOptions& options = {}, const Machine& machine = {});
/// The plan of one rank that solves with the factors of such a plan for right-hand sides `b` [m, r] and
/// solutions `x` [n, r]. Buffers: 0 the factors, 1 the pivots, 2 B, 3 X; then scratch. `in_place`: X is B.
/// Executed with alpha = -1.
PARTITA_API Plan plan_solve(Factorization kind, const Operand& a, const Operand& b, const Operand& x,
                            const Topology& topology, int rank, Op op = Op::none,
                            const FactorOptions& options = {}, bool in_place = false,
                            const Machine& machine = {});

}  // namespace partita
