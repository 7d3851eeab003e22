// Between nodes: a stage is transformed part by part, so that the messages of one part are under way while
// the next is transformed.
#pragma once

#include "fft/scheme.hpp"
#include "redistribute/parts.hpp"

namespace partita::fourier {

/// The parts in which what was transformed along `axes`, an array of layout `from`, goes into layout `to`;
/// one where nothing is to be gained: no two nodes, no axis that is not transformed, or messages that would
/// be too short. The same on every rank.
redistribution::Parts parts_of(const Problem& problem, const Layout& from, Dtype dtype,
                               const std::vector<int>& axes, const Layout& to);

}  // namespace partita::fourier
