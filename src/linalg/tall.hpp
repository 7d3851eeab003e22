// QR factorizations of matrices with many more rows than columns. By reflectors: each rank factorizes its
// rows, and all factorize the triangles, one above the other (TSQR; Demmel, Grigori, Hoemmen and Langou
// 2012). By CholeskyQR: products A^H A and Cholesky factors, which is faster, and for ill-conditioned
// matrices is found to have failed. Rows are never redistributed by columns.
#pragma once

#include <optional>
#include <partita/linalg.hpp>
#include <partita/machine.hpp>

#include "array/array_state.hpp"

namespace partita::linear {

/// From the fastest to the most robust.
enum class TallMethod : std::uint8_t {
  inverses,    ///< CholeskyQR2 with products by the inverse of the first triangle
  solves,      ///< CholeskyQR2 with triangular solves, as accurate as by reflectors
  shifted,     ///< CholeskyQR3, executed with alpha = shift_of(...)
  reflectors,  ///< TSQR, or by columns
};

/// Whether a matrix may be factorized by CholeskyQR: at most `most_tall_columns` columns, and four times as
/// many rows. Local.
bool is_tall(const Operand& a);
/// Whether every rank factorizes its rows by reflectors: the triangles of all ranks have at most half as many
/// rows as the part of one rank. Local.
bool suits_tsqr(const Operand& a);
inline constexpr std::int64_t most_tall_columns = 512;

/// The same of a matrix with right-hand sides: all in one memory space, and not stream-ordered. Local.
bool suits_tall(const Array& a, const Array& b, const SolveOptions& options);

/// The method to begin with, by predicted seconds. `forms_q`: or solves a least-squares problem. Local, the
/// same on every rank.
TallMethod choose_tall_method(const Operand& a, bool forms_q, const Topology& topology,
                              const Machine& machine);

/// What ranks measure of an execution of CholeskyQR: the first and the last A^H A [n, n], of which the last
/// is nearly the unit matrix, and the status [3] of the Cholesky factorizations. All replicated.
struct TallMeasureOperands {
  Operand gram, status;
};
TallMeasureOperands tall_measures(const Operand& a);

/// Q and R. Buffers: 0 A, 1 Q [m, n], 2 R [n, n], in any layouts, 3 the first A^H A, 4 the last one, 5 the
/// status, 6 (of `inverses`) R^-1 of the first round; then scratch.
Plan plan_cholesky_qr(TallMethod method, const Operand& a, const Operand& q, const Operand& r,
                      const Topology& topology, int rank);
/// The X [n, k] that minimizes the 2-norm of A X - B. Buffers: 0 A, 1 B [m, k], 2 X, then as above.
Plan plan_cholesky_qr_least_squares(TallMethod method, const Operand& a, const Operand& b, const Operand& x,
                                    const Topology& topology, int rank);

/// What was measured.
struct TallMeasures {
  bool is_definite = false;  ///< all Cholesky factorizations have succeeded
  double squares = 0;        ///< of the elements of A, their sum
  double distance = 0;       ///< |Q^H Q - I| before the last round, in the Frobenius norm
  double condition = 0;      ///< of `inverses`: of A with columns of norm 1, in the Frobenius norm
};
/// The method to try next; nothing if this one has succeeded: the last Q is then orthonormal up to rounding
/// errors.
std::optional<TallMethod> next_tall_method(TallMethod tried, std::int64_t columns,
                                           const TallMeasures& measures);
/// The shift of `shifted` for a matrix [m, n]: the bound of Fukaya et al. on the rounding errors of A^H A,
/// with the square root of m, as errors of independent signs add up; one that is too small is found to have
/// failed.
double shift_of(const Shape& shape, Dtype dtype, double squares);

/// By reflectors. Buffers: 0 A, 1 Q [m, n], 2 R [n, n], in any layouts; then scratch.
Plan plan_tall_qr(const Operand& a, const Operand& q, const Operand& r, const Topology& topology, int rank);
/// The X [n, k] that minimizes the 2-norm of A X - B. Buffers: 0 A, 1 B [m, k], 2 X, 3 R [n, n]; then
/// scratch. Zeros on the diagonal of R are not looked for.
Plan plan_tall_least_squares(const Operand& a, const Operand& b, const Operand& x, const Operand& r,
                             const Topology& topology, int rank);

// Collective and blocking. For checked arguments, A tall. The methods from `first` on are tried.
QrFactors tall_qr(const Array& a, TallMethod first, SourcePlace where);
/// Throws SingularError where R has a zero on its diagonal.
Array tall_least_squares(const Array& a, const Array& b, const SolveOptions& options, TallMethod first,
                         SourcePlace where);

}  // namespace partita::linear
