// cuBLASLt, as a peer: opened where it is installed. Each product in the fastest of its first eight ways.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/dtype.hpp>

namespace partita::benchmarks {

/// Row-major, without gaps: d[m, n] = a[m, k] b[k, n]. Of a byte an element b is column-major.
struct LocalProduct {
  std::int64_t m = 0, n = 0, k = 0;
  Dtype dtype = Dtype::bf16;   ///< of a and b; halves and f8 are summed in f32, i8 in i32
  Dtype result = Dtype::bf16;  ///< of d
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
