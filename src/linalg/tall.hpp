// QR factorizations of matrices with many more rows than columns, of which every rank has rows (Demmel,
// Grigori, Hoemmen and Langou 2012, TSQR): each rank factorizes its rows, and all factorize the triangles,
// one above the other. Rows are never redistributed by columns.
#pragma once

#include <partita/linalg.hpp>

#include "array/array_state.hpp"

namespace partita::linear {

/// Whether a matrix is factorized so: the triangles of all ranks have at most half as many rows as the part
/// of one rank, and at most `most_tall_columns` columns. Local.
bool is_tall(const Operand& a);
inline constexpr std::int64_t most_tall_columns = 512;

/// The same of a matrix with right-hand sides: all in one memory space, and not stream-ordered. Local.
bool suits_tall(const Array& a, const Array& b, const SolveOptions& options);

/// Q and R. Buffers: 0 A, 1 Q [m, n], 2 R [n, n], in any layouts; then scratch.
Plan plan_tall_qr(const Operand& a, const Operand& q, const Operand& r, const Topology& topology, int rank);
/// The X [n, k] that minimizes the 2-norm of A X - B. Buffers: 0 A, 1 B [m, k], 2 X, 3 R [n, n]; then
/// scratch. Zeros on the diagonal of R are not looked for.
Plan plan_tall_least_squares(const Operand& a, const Operand& b, const Operand& x, const Operand& r,
                             const Topology& topology, int rank);

// Collective and blocking. For checked arguments, A tall.
QrFactors tall_qr(const Array& a, SourcePlace where);
/// Throws SingularError where R has a zero on its diagonal.
Array tall_least_squares(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where);

}  // namespace partita::linear
