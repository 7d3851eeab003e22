// A stage as steps: its lines gathered, transformed and stored while they are in cache.
#pragma once

#include <optional>

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// Transforms lines through cache: each chunk of lines is gathered from its owners, transformed, and stored
/// once, at its new owners, without messages. With a `twiddle`, whose part is set, the lines are then
/// multiplied by roots of unity.
void transform_through_cache(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                             int to, const std::optional<Twiddle>& twiddle = {});
/// Whether that takes no more steps than a plan should have; the same on every rank.
bool fits_through_cache(const Operand& from, const Stage& stage);

}  // namespace partita::fourier
