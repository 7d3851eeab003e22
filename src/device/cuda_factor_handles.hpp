// Handles of cuSOLVER and cuBLAS for the factorizations of one stream at a time.
#pragma once

#include <memory>

#include "device/accelerator.hpp"
#include "device/cublas_types.hpp"
#include "device/cusolver_library.hpp"
#include "device/device_factorizations.hpp"
#include "device/device_memory.hpp"

namespace partita::devices {

/// Throws Error for a cusolverStatus_t that is not 0.
void check_cusolver(int status, const char* what);

/// In arrays of functions for f32, f64, c64 and c128.
inline std::size_t number_of(Dtype dtype) {
  return std::size_t{is_complex(dtype) ? 2U : 0U} + (is_double(dtype) ? 1 : 0);
}

/// c [m, n] = alpha op(a) b + beta c, b: [k, n]; op: the adjoint of a [k, m], or a [m, k] itself.
struct DevicePanelProduct {
  Dtype dtype = Dtype::f64;
  bool adjoint = false;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t leading_a = 1, leading_b = 1, leading_c = 1;
};

/// A handle of each library, and cuBLAS's workspace.
class CudaFactorHandles {
 public:
  explicit CudaFactorHandles(Accelerator& device);
  ~CudaFactorHandles();
  CudaFactorHandles(const CudaFactorHandles&) = delete;
  CudaFactorHandles& operator=(const CudaFactorHandles&) = delete;

  /// Later calls with these handles are enqueued on the stream.
  void use(Stream stream) const;
  CusolverHandle solver() const { return solver_.get(); }
  void solve(const DeviceTriangularSolve& what, const void* triangle, void* to) const;
  void multiply(const DevicePanelProduct& what, double alpha, const void* a, const void* b, double beta,
                void* c) const;
  /// Device memory, for calls that do not look at addresses.
  void* any_memory() const { return workspace_.data(); }

 private:
  Accelerator& device_;
  DeviceMemory workspace_;
  std::shared_ptr<cusolverDnContext> solver_;
  std::shared_ptr<cublasContext> blas_;
};

}  // namespace partita::devices
