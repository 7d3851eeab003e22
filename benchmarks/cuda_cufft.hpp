// cuFFT, as a peer: opened where it is installed.
#pragma once

#include <array>
#include <memory>

namespace partita::benchmarks {

/// Forward complex transforms in f32, in place, in the terms of cuFFT.
struct CufftShape {
  int dimensions = 1;
  std::array<long long, 3> n{};
  long long stride = 1, apart = 1, batches = 1;  ///< in elements
};

class Cufft {
 public:
  virtual ~Cufft() = default;
  /// Puts it into the stream (a cudaStream_t).
  virtual void run(void* data, void* stream) = 0;
};

/// Null: no cuFFT here.
std::unique_ptr<Cufft> make_cufft(const CufftShape& shape);

}  // namespace partita::benchmarks
