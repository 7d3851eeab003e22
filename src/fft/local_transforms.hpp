// Lines that a rank owns whole, transformed by its own works.
#pragma once

#include <vector>

#include "fft/scheme.hpp"
#include "fft/steps.hpp"

namespace partita::fourier {

/// The region of the result's index space that the lines of `before` become.
Region transformed(const Problem& problem, const Stage& stage, const Region& before);

/// Whether what is in a buffer has been used once it is transformed.
bool may_overwrite(const Steps& steps, const Problem& problem, int buffer);

/// From one place to another, in place where both are the same.
struct Way {
  Place from, to;
  bool overwrites = true;  ///< what is in `from` may be destroyed
};

/// The transforms of a stage as works. What several axes make real is destroyed: all axes but the last are
/// transformed where they come from, unless they go `at_once`.
std::vector<Work> transforms(const Problem& problem, const Stage& stage, bool last, const Region& before,
                             const Way& way, bool at_once);

/// Transforms the lines of `region` (of the stage's input, owned whole by this rank) from one array to
/// another, or in place, and multiplies them as `transform_through_cache` does. A complex to real transform
/// of several axes overwrites `from`; on a device an operand is copied first.
void transform_owned(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                     const Region& region, int from, int to, const std::optional<Twiddle>& twiddle = {});

/// This rank's own lines along several axes from one array, which keeps its values, to another one of real
/// numbers. On the host.
void transform_back_to_real(Steps& steps, const Problem& problem, const Stage& stage, bool last, int from,
                            int to);

}  // namespace partita::fourier
