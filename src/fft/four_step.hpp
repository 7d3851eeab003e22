// One long line over all ranks (Bailey 1990, "FFTs in external or hierarchical memory").
//
// With n = n1 C + n2 and k = k1 + R k2, where the line of R C elements is a matrix of R rows,
//
//   X[k1 + R k2] = sum_n2 w_C^(n2 k2) ( w_RC^(n2 k1) sum_n1 w_R^(n1 k1) x[n1 C + n2] )
//
// that is: transforms of the columns, a multiplication by roots of unity, transforms of the rows, and a
// transposition, which the last store does.
#pragma once

#include <optional>

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// R and C, about equal, if possible both divisible by the ranks; nothing where the length is prime.
std::optional<Factors> factors_of(std::int64_t length, int ranks);

/// A line of `rows` rows of `length` elements each, with whole rows distributed evenly in order.
Layout rows_layout(std::int64_t rows, std::int64_t length, int ranks);

/// The order of the matrix in memory when its lines along `axis` are transformed, slowest first: on devices
/// with contiguous lines, because long strided lines take four times as long in cuFFT as a transposing copy.
Extents matrix_order(const Problem& problem, int axis);
/// The parts in which lines along `axis`, owned as in `lines`, go on into layout `to`.
redistribution::Parts parts_of_matrix(const Problem& problem, const Layout& lines, Dtype dtype, int axis,
                                      const Layout& to);

/// A complex line from one buffer to another, or in place. Scratch that it comes in is used as scratch.
void walk_four_step(Steps& steps, const Problem& problem, const Factors& factors, int from, int to);

/// One long line of real numbers as a complex line of the same length: real to complex and back, of any
/// length that has factors, odd ones too. From real numbers the line is widened, and the first half of the
/// spectrum is kept. To real numbers, with n the length and X the half spectrum,
///
///   x[j] = Re sum_k c_k X[k] exp(2 pi i jk/n),   c_k = 2, but 1 for k = 0 and, where n is even, k = n/2
///
/// since X[n-k] is the conjugate of X[k]: no rank needs the mirror image of what it owns. Twice the work of a
/// transform that knew of the symmetry, and twice its bytes.
void walk_real_line(Steps& steps, const Problem& problem, const Factors& factors);

}  // namespace partita::fourier
