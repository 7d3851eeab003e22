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

/// A line of `rows` rows of `length` elements each, whole rows dealt out evenly in order.
Layout rows_layout(std::int64_t rows, std::int64_t length, int ranks);

/// A complex line from one buffer to another, or in place. Scratch that it comes in is used as scratch.
void walk_four_step(Steps& steps, const Problem& problem, const Factors& factors, int from, int to);

}  // namespace partita::fourier
