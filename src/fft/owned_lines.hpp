// Lines that a rank owns whole, transformed where they are.
#pragma once

#include <optional>

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// The lines of `region` (of the stage's input, owned by this rank) from one array to another, or in place;
/// then multiplied by roots of unity where there is a `twiddle`, whose part is set. A complex to real
/// transform of several axes uses `from` as scratch.
void transform_owned(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                     const Region& region, int from, int to, const std::optional<Twiddle>& twiddle = {});

}  // namespace partita::fourier
