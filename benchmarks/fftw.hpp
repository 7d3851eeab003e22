// FFTW in one process: the bound, and what results are checked against.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <partita/extents.hpp>
#include <string>

namespace partita::benchmarks {

/// A forward transform of a whole three-dimensional array in row-major order, out of place, with its memory.
/// Local. Planned with FFTW_MEASURE on `threads` threads, or estimated.
class Fftw {
 public:
  /// `real`: from doubles to the half spectrum. Throws UnsupportedError where there is no FFTW with threads.
  Fftw(const Shape& shape, bool real, int threads, bool measure);
  ~Fftw();
  Fftw(const Fftw&) = delete;
  Fftw& operator=(const Fftw&) = delete;

  double* input() const;  ///< touched, in huge pages where they are to be had
  std::complex<double>* output() const;
  void run() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The other side of `Apart` for "fftw:c2c:256x256x256" and "fftw:r2c:...": a thread per core.
void serve_fftw(const std::string& what);

}  // namespace partita::benchmarks
