// cuBLAS, cuBLASLt and kernels of our own, as what a CUDA device computes with.
#pragma once

#include <vector>

#include "device/cublas_lt_products.hpp"
#include "device/cublas_types.hpp"
#include "device/device_math.hpp"
#include "device/device_memory.hpp"

namespace partita::devices {

/// One handle of each library a context, with a workspace of ours, so that calls allocate nothing in graphs
/// either. Products are cuBLASLt's, in the way that was fastest when it was tried; where it has none, or
/// memory is aligned worse than was known, cuBLAS's.
class CudaMath final : public DeviceMath {
 public:
  /// Null: there is no cuBLAS, `report_cublas` says why. Errors: it is there and does not start.
  static std::unique_ptr<CudaMath> make(Accelerator& device);
  ~CudaMath() override;
  CudaMath(const CudaMath&) = delete;
  CudaMath& operator=(const CudaMath&) = delete;

  std::string name() const override;
  bool multiplies(Dtype a, Dtype b, Dtype result) const override;
  bool wants_aligned(Dtype factors, std::int64_t m, std::int64_t n, std::int64_t k) const override;
  std::shared_ptr<DeviceProduct> prepare(const DeviceGemm& what, bool may_try) override;
  std::string news_of_choices() override;
  void agree_on_choices(std::span<const std::string> news) override;
  bool makes(const DeviceProduct& product, const GemmPlaces& places) const override;
  void gemm(const DeviceProduct& product, const GemmPlaces& places, std::complex<double> alpha,
            std::complex<double> beta, Stream stream) override;
  void pass(const ElementPass& what, const ElementNest& nest, Stream stream) override;

 private:
  CudaMath(Accelerator& device, const CublasLibrary& library);
  void check_cublas(int status, const char* what) const;
  static void check_light(int status);
  void load(DeviceProduct& product);
  void by_cublas(const DeviceGemm& what, const GemmPlaces& places, const CublasFactor& alpha,
                 const CublasFactor& beta, Stream stream) const;

  Accelerator& device_;
  const CublasLibrary& library_;
  DeviceMemory workspace_;
  std::shared_ptr<cublasContext> handle_;
  std::unique_ptr<CublasLtProducts> light_;               // null: there is no cuBLASLt
  bool has_float8_ = false;                               // the device multiplies it
  std::vector<std::shared_ptr<DeviceProduct>> prepared_;  // strided operands come again and again
};

}  // namespace partita::devices
