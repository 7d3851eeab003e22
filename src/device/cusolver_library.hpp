// cuSOLVER, opened on first use and not linked. What is needed of <cusolverDn.h> stands here: a build needs
// neither.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/device_report.hpp>

#include "device/cublas_library.hpp"

struct cusolverDnContext;
struct cusolverDnParams;

namespace partita::devices {

using CusolverHandle = cusolverDnContext*;
using CusolverOptions = cusolverDnParams*;

enum class CusolverMode : int { deterministic = 1 };
enum class CusolverJob : int { values = 0, vectors = 1 };

/// Its functions return a cusolverStatus_t, 0: all is well; streams are cudaStream_t, types those of cuBLAS,
/// the last argument of a factorization is an int in device memory. Of arrays: for f32, f64, c64, c128.
struct CusolverLibrary : LibraryReport {
  int (*get_property)(int which, int* value) = nullptr;
  int (*create)(CusolverHandle* made) = nullptr;
  int (*destroy)(CusolverHandle handle) = nullptr;
  int (*set_stream)(CusolverHandle handle, void* stream) = nullptr;
  int (*set_mode)(CusolverHandle handle, CusolverMode mode) = nullptr;  ///< null: older ones have one mode
  int (*create_options)(CusolverOptions* made) = nullptr;
  int (*destroy_options)(CusolverOptions options) = nullptr;
  int (*potrf_bytes)(CusolverHandle handle, CusolverOptions options, CublasTriangle triangle, std::int64_t n,
                     CublasType type, const void* a, std::int64_t leading, CublasType compute,
                     std::size_t* on_device, std::size_t* on_host) = nullptr;
  int (*potrf)(CusolverHandle handle, CusolverOptions options, CublasTriangle triangle, std::int64_t n,
               CublasType type, void* a, std::int64_t leading, CublasType compute, void* device_memory,
               std::size_t on_device, void* host_memory, std::size_t on_host, int* status) = nullptr;
  int (*getrf_bytes)(CusolverHandle handle, CusolverOptions options, std::int64_t m, std::int64_t n,
                     CublasType type, const void* a, std::int64_t leading, CublasType compute,
                     std::size_t* on_device, std::size_t* on_host) = nullptr;
  int (*getrf)(CusolverHandle handle, CusolverOptions options, std::int64_t m, std::int64_t n,
               CublasType type, void* a, std::int64_t leading, std::int64_t* pivots, CublasType compute,
               void* device_memory, std::size_t on_device, void* host_memory, std::size_t on_host,
               int* status) = nullptr;
  int (*geqrf_bytes)(CusolverHandle handle, CusolverOptions options, std::int64_t m, std::int64_t n,
                     CublasType type, const void* a, std::int64_t leading, CublasType type_of_tau,
                     const void* tau, CublasType compute, std::size_t* on_device,
                     std::size_t* on_host) = nullptr;
  int (*geqrf)(CusolverHandle handle, CusolverOptions options, std::int64_t m, std::int64_t n,
               CublasType type, void* a, std::int64_t leading, CublasType type_of_tau, void* tau,
               CublasType compute, void* device_memory, std::size_t on_device, void* host_memory,
               std::size_t on_host, int* status) = nullptr;
  int (*syevd_bytes)(CusolverHandle handle, CusolverOptions options, CusolverJob job, CublasTriangle triangle,
                     std::int64_t n, CublasType type, const void* a, std::int64_t leading,
                     CublasType type_of_values, const void* values, CublasType compute,
                     std::size_t* on_device, std::size_t* on_host) = nullptr;
  int (*syevd)(CusolverHandle handle, CusolverOptions options, CusolverJob job, CublasTriangle triangle,
               std::int64_t n, CublasType type, void* a, std::int64_t leading, CublasType type_of_values,
               void* values, CublasType compute, void* device_memory, std::size_t on_device,
               void* host_memory, std::size_t on_host, int* status) = nullptr;
  /// ormqr and unmqr; sizes in elements.
  using MultiplySize = int (*)(CusolverHandle handle, CublasSide side, CublasOperation op, int m, int n,
                               int k, const void* a, int leading, const void* tau, const void* c,
                               int leading_c, int* work_size);
  using MultiplyByQ = int (*)(CusolverHandle handle, CublasSide side, CublasOperation op, int m, int n, int k,
                              const void* a, int leading, const void* tau, void* c, int leading_c, void* work,
                              int work_size, int* status);
  std::array<MultiplySize, 4> multiply_by_q_size{};
  std::array<MultiplyByQ, 4> multiply_by_q{};

  /// Opened at the first call; never an error. Thread-safe.
  static const CusolverLibrary& of_process();
};

}  // namespace partita::devices
