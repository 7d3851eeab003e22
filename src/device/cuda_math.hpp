// cuBLAS and kernels of our own, as what a CUDA device computes with.
#pragma once

#include <vector>

#include "device/cublas_library.hpp"
#include "device/device_math.hpp"
#include "device/device_memory.hpp"

namespace partita::devices {

/// One handle of cuBLAS a context, with a workspace of ours, so that calls allocate nothing in graphs either.
class CudaMath final : public DeviceMath {
 public:
  /// Null: there is no cuBLAS, `report_cublas` says why. Errors: it is there and does not start.
  static std::unique_ptr<CudaMath> make(Accelerator& device);
  ~CudaMath() override;
  CudaMath(const CudaMath&) = delete;
  CudaMath& operator=(const CudaMath&) = delete;

  std::string name() const override;
  bool multiplies(Dtype factors, Dtype result) const override;
  void prepare(const DeviceGemm& what) override;
  void gemm(const DeviceGemm& what, const void* a, const void* b, void* c, std::complex<double> alpha,
            std::complex<double> beta, Stream stream) override;
  void pass(const ElementPass& what, const ElementNest& nest, Stream stream) override;

 private:
  CudaMath(Accelerator& device, const CublasLibrary& library);
  void check_cublas(int status, const char* what) const;

  Accelerator& device_;
  const CublasLibrary& library_;
  DeviceMemory workspace_;
  CublasHandle handle_ = nullptr;
  std::vector<DeviceGemm> prepared_;
};

}  // namespace partita::devices
