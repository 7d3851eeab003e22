// cuBLASLt, opened on first use and not linked. What is needed of <cublasLt.h> stands here: a build needs
// neither.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/device_report.hpp>

struct cublasLtContext;

namespace partita::devices {

using CublasLtHandle = cublasLtContext*;
using CublasLtDescriptor = void*;  ///< of a product, of a matrix, or of preferences

/// A cublasLtMatmulAlgo_t: bytes that mean the same to the same version of the library.
struct CublasLtAlgorithm {
  std::array<std::uint64_t, 8> words{};
  bool operator==(const CublasLtAlgorithm&) const = default;
};

/// A cublasLtMatmulHeuristicResult_t.
struct CublasLtAnswer {
  CublasLtAlgorithm algorithm;
  std::size_t workspace_bytes = 0;
  int status = 0;
  float waves = 0;
  std::array<int, 4> reserved{};
};

/// int32_t, but pointers to the bias and the auxiliary matrix, and int64_t for the layout of the latter.
enum class CublasLtOfProduct : int {
  operation_a = 3,
  operation_b = 4,
  epilogue = 7,
  bias = 8,
  auxiliary = 11,
  auxiliary_leading = 12,
  auxiliary_stride = 13,
  bias_type = 26
};
/// Bits, but none. The derivative of gelu has an auxiliary matrix, too.
enum class CublasLtEpilogue : std::int32_t {
  none = 1,
  relu = 2,
  bias = 4,
  gelu = 32,
  dgelu = 64,
  auxiliary = 128
};
enum class CublasLtOfMatrix : int { batches = 5, stride = 6 };  // int32_t, int64_t
enum class CublasLtPreference : int {
  workspace_bytes = 1,
  least_alignment_of_a = 5
};  // uint64_t; uint32_t:
    // and b, c, d behind it

/// Its functions return a cublasStatus_t, 0: all is well; streams are cudaStream_t, types those of cuBLAS.
struct CublasLtLibrary : LibraryReport {
  int (*get_property)(int which, int* value) = nullptr;
  int (*create)(CublasLtHandle* made) = nullptr;
  int (*destroy)(CublasLtHandle handle) = nullptr;
  const char* (*status_string)(int status) = nullptr;
  int (*make_product)(CublasLtDescriptor* made, int compute, int factor_type) = nullptr;
  int (*destroy_product)(CublasLtDescriptor product) = nullptr;
  int (*set_product)(CublasLtDescriptor product, CublasLtOfProduct which, const void* value,
                     std::size_t bytes) = nullptr;
  int (*make_matrix)(CublasLtDescriptor* made, int type, std::uint64_t rows, std::uint64_t columns,
                     std::int64_t leading) = nullptr;
  int (*destroy_matrix)(CublasLtDescriptor matrix) = nullptr;
  int (*set_matrix)(CublasLtDescriptor matrix, CublasLtOfMatrix which, const void* value,
                    std::size_t bytes) = nullptr;
  int (*make_preference)(CublasLtDescriptor* made) = nullptr;
  int (*destroy_preference)(CublasLtDescriptor preference) = nullptr;
  int (*set_preference)(CublasLtDescriptor preference, int which, const void* value,
                        std::size_t bytes) = nullptr;
  /// The first ones of `wanted` ways, the best by its own estimate first.
  int (*ask)(CublasLtHandle handle, CublasLtDescriptor product, CublasLtDescriptor a, CublasLtDescriptor b,
             CublasLtDescriptor c, CublasLtDescriptor d, CublasLtDescriptor preference, int wanted,
             CublasLtAnswer* answers, int* count) = nullptr;
  /// Whether the way suits the product.
  int (*check)(CublasLtHandle handle, CublasLtDescriptor product, CublasLtDescriptor a, CublasLtDescriptor b,
               CublasLtDescriptor c, CublasLtDescriptor d, const CublasLtAlgorithm* algorithm,
               CublasLtAnswer* answer) = nullptr;
  int (*multiply)(CublasLtHandle handle, CublasLtDescriptor product, const void* alpha, const void* a,
                  CublasLtDescriptor of_a, const void* b, CublasLtDescriptor of_b, const void* beta,
                  const void* c, CublasLtDescriptor of_c, void* d, CublasLtDescriptor of_d,
                  const CublasLtAlgorithm* algorithm, void* workspace, std::size_t workspace_bytes,
                  void* stream) = nullptr;

  /// Opened at the first call; never an error. Thread-safe.
  static const CublasLtLibrary& of_process();
};

}  // namespace partita::devices
