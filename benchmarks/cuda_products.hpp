// cuBLASLt, as a peer: opened where it is installed. Each product in the fastest of its first eight ways.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/dtype.hpp>

namespace partita::benchmarks {

/// Row-major, without gaps: d[m, n] = a[m, k] b[k, n].
struct LocalProduct {
  std::int64_t m = 0, n = 0, k = 0;
  Dtype dtype = Dtype::bf16;  ///< of all three; halves are summed in f32
};

class CublasLt {
 public:
  virtual ~CublasLt() = default;
  /// Tries the ways, on these operands, and keeps the fastest. Waits for the device. Throws Error.
  virtual void choose(const LocalProduct& product, const void* a, const void* b, void* d) = 0;
  /// The one that was chosen last. Puts it into the stream (a cudaStream_t).
  virtual void run(const void* a, const void* b, void* d, void* stream) = 0;
};

/// On the device that the calling thread has chosen. Null: no cuBLASLt here.
std::unique_ptr<CublasLt> make_cublas_lt();

}  // namespace partita::benchmarks
