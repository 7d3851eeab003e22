// A stage as steps: its lines gathered, transformed and stored while they are in cache, or transformed where
// they are.
#pragma once

#include <optional>

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// Lines that go through cache: for one chunk of lines after the other, gathered from whoever owns them,
/// transformed, and stored once, at whoever owns that place. Nothing of it passes through messages. The lines
/// are then multiplied by roots of unity where there is a `twiddle`, whose part is set.
void transform_through_cache(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                             int to, const std::optional<Twiddle>& twiddle = {});
/// Whether that takes no more steps than a plan should have; the same on every rank.
bool fits_through_cache(const Operand& from, const Stage& stage);

/// This rank's own lines along several axes from one array, which keeps its values, to another one of real
/// numbers. On the host.
void transform_back_to_real(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                            int to);

/// The lines of `region` (of the stage's input, owned whole by this rank) from one array to another, or in
/// place; then multiplied likewise. A complex to real transform of several axes destroys what is in `from`;
/// on a device that is copied first where it is an operand.
void transform_owned(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                     const Region& region, int from, int to, const std::optional<Twiddle>& twiddle = {});

}  // namespace partita::fourier
