// cuBLAS, opened on first use and not linked. What is needed of <cublas_v2.h> stands here: a build needs
// neither.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/device_report.hpp>

struct cublasContext;

namespace partita::devices {

using CublasHandle = cublasContext*;

enum class CublasType : int {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  i8 = 3,
  c64 = 4,
  c128 = 5,
  i32 = 10,
  bf16 = 14,
  f8e4m3 = 28,
  f8e5m2 = 29
};
enum class CublasCompute : int { f32 = 68, f64 = 70, i32 = 72, tf32 = 77, bf16x9 = 78 };  // f32: no TF32
enum class CublasOperation : int { none, transpose, conjugate_transpose };
enum class CublasSide : int { left, right };
enum class CublasTriangle : int { lower, upper };
enum class CublasDiagonal : int { any, unit };

/// Its functions return a cublasStatus_t, 0: all is well; streams are cudaStream_t.
struct CublasLibrary : LibraryReport {
  int (*get_property)(int which, int* value) = nullptr;
  int (*create)(CublasHandle* made) = nullptr;
  int (*destroy)(CublasHandle handle) = nullptr;
  int (*set_stream)(CublasHandle handle, void* stream) = nullptr;
  int (*set_workspace)(CublasHandle handle, void* memory, std::size_t bytes) = nullptr;
  const char* (*status_string)(int status) = nullptr;
  int (*gemm)(CublasHandle handle, CublasOperation op_a, CublasOperation op_b, std::int64_t m, std::int64_t n,
              std::int64_t k, const void* alpha, const void* a, CublasType type_a, std::int64_t leading_a,
              long long stride_a, const void* b, CublasType type_b, std::int64_t leading_b,
              long long stride_b, const void* beta, void* c, CublasType type_c, std::int64_t leading_c,
              long long stride_c, std::int64_t batches, CublasCompute compute, int algorithm) = nullptr;
  using SolveTriangular = int (*)(CublasHandle handle, CublasSide side, CublasTriangle triangle,
                                  CublasOperation op, CublasDiagonal diagonal, std::int64_t m, std::int64_t n,
                                  const void* alpha, const void* a, std::int64_t leading_a, void* b,
                                  std::int64_t leading_b);
  std::array<SolveTriangular, 4> trsm{};  ///< for f32, f64, c64, c128

  /// Opened at the first call; never an error. Thread-safe.
  static const CublasLibrary& of_process();
};

}  // namespace partita::devices
