// A stage as steps: its lines gathered, transformed and stored while they are in cache, or transformed where
// they are.
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

/// This rank's own lines along several axes from one array, which keeps its values, to another one of real
/// numbers. On the host.
void transform_back_to_real(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                            int to);

/// Transforms the lines of `region` (of the stage's input, owned whole by this rank) from one array to
/// another, or in place, and multiplies them as above. A complex to real transform of several axes overwrites
/// `from`; on a device an operand is copied first.
void transform_owned(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                     const Region& region, int from, int to, const std::optional<Twiddle>& twiddle = {});

}  // namespace partita::fourier
