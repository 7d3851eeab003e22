// One long line of real numbers over all ranks, as a complex line of the same length.
#pragma once

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// Real to complex and back, of any length that has factors, odd ones too. From real numbers the line is
/// widened, and the first half of the spectrum is kept. To real numbers, with n the length and X the half
/// spectrum,
///
///   x[j] = Re sum_k c_k X[k] exp(2 pi i jk/n),   c_k = 2, but 1 for k = 0 and, where n is even, k = n/2
///
/// since X[n-k] is the conjugate of X[k]: no rank needs the mirror image of what it owns. Twice the work of a
/// transform that knew of the symmetry, and twice its bytes.
void walk_real_line(Steps& steps, const Problem& problem, const Factors& factors);

}  // namespace partita::fourier
