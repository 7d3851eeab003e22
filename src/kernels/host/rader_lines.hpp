// Complex transforms of lines whose length has a large prime factor.
#pragma once

#include <memory>
#include <partita/work.hpp>
#include <vector>

#include "kernels/host/lines.hpp"

namespace partita::kernels {

/// FFTW processes such lengths element by element, at several times the cost of a fast length. Here the lines
/// are gathered in the order of Rader's convolution and scattered from it, which is free when lines pass
/// through buffers anyway, and FFTW transforms a fast length. The length must have a Rader form (rader.hpp),
/// the kind must be complex. `measure`: how FFTW plans the inner transforms. Throws as plan_transform.
std::shared_ptr<const Lines> rader_lines(TransformKind kind, FftwPrecision precision, const FftwLoop& line,
                                         std::vector<FftwLoop> batch, bool measure);

/// Whether lines of this length are better transformed so than by FFTW's own plan. Measured: both are timed,
/// once in a process. Otherwise by a rule: wherever the length has the form, but for long convolutions with
/// zeros behind.
bool rader_pays(TransformKind kind, FftwPrecision precision, std::int64_t length, bool measure);

}  // namespace partita::kernels
