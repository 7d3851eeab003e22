// A line of n = 2m real numbers is m complex numbers in memory. Between their transform and the half spectrum
// of the line stands one pass over pairs of elements, in either direction.
//
// FFTW's own plans of real lines have no vector instructions in their small transforms, and those of complex
// to real destroy their input or pass over it once more. So two transforms of m and a pass that also scales
// take half of the time, and keep the input (benchmarks/results/fft-cpu.md).
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/host/fftw_library.hpp"

namespace partita::kernels {

/// Of lines of one even length and precision. Immutable, thread-safe. The functions of one line may run in
/// place.
class HalfLength {
 public:
  HalfLength() = default;
  virtual ~HalfLength() = default;
  HalfLength(const HalfLength&) = delete;
  HalfLength& operator=(const HalfLength&) = delete;

  /// From the forward transform of m complex numbers, the m + 1 of the half spectrum times `factor`.
  virtual void to_spectrum(const char* transform, char* spectrum, double factor) const = 0;
  /// From a half spectrum the m complex numbers whose backward transform, unnormalised, is the line times
  /// `factor`. What should be real, the first and last element, counts as real.
  virtual void from_spectrum(const char* spectrum, char* numbers, double factor) const = 0;

  /// Half spectra of two lines, and where their m complex numbers go; nothing overlaps.
  struct Pair {
    const char *spectrum, *other_spectrum;
    char *numbers, *other_numbers;
  };
  /// The same for two lines that are each other's conjugates in reverse but for what was transformed along
  /// another axis: k and -k of it (paired_lines.hpp).
  virtual void from_spectra(const Pair& pair, double factor) const = 0;
};

/// The same for all that ask for one length. Thread-safe.
std::shared_ptr<const HalfLength> half_length(FftwPrecision precision, std::int64_t length);

}  // namespace partita::kernels
