// Lines of an odd number n of real points from their half spectra, by complex transforms of n: FFTW has
// vector instructions for these, so that they take 0.5 to 0.95 of the time of n real ones, and keep their
// input (benchmarks/results/fft-cpu.md).
#pragma once

#include <cstdint>

#include "kernels/host/fftw_library.hpp"

namespace partita::kernels {

/// All n numbers of a spectrum, times `factor`, from the first n/2 + 1. Of these the first one counts as
/// real. The two do not overlap. Thread-safe, as the other one.
void complete_spectrum(FftwPrecision precision, std::int64_t length, const char* half, char* whole,
                       double factor);
/// The real parts of n complex numbers; the two do not overlap.
void take_reals(FftwPrecision precision, std::int64_t length, const char* numbers, char* reals);

}  // namespace partita::kernels
