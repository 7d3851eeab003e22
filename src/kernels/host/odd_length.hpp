// Lines of an odd number of points from their half spectra, by the transform in the other direction.
//
// With a + b i the elements of a half spectrum, 0 ... h, the forward transform T of the n = 2h + 1 real
// numbers
//
//   t[0] = a[0],  t[k] = a[k] - b[k],  t[n - k] = a[k] + b[k]
//
// has Re T[j] - Im T[j] = x[j] and Re T[j] + Im T[j] = x[n - j]: the line comes from its half as t does from
// the spectrum (the Hartley transform is its own inverse). FFTW's plans from complex to an odd number of real
// points take up to 1.4 times as long as those in the other direction, and destroy their input.
#pragma once

#include <cstdint>

#include "kernels/host/fftw_library.hpp"

namespace partita::kernels {

/// From h + 1 complex numbers the 2h + 1 real ones as above, times `factor`. The first complex number counts
/// as real. `numbers` does not overlap them. Thread-safe.
void unfold(FftwPrecision precision, std::int64_t length, const char* spectrum, char* numbers, double factor);

}  // namespace partita::kernels
