// cuFFT and kernels of our own, as what a CUDA device transforms with.
#pragma once

#include <vector>

#include "device/accelerator.hpp"
#include "device/cufft_library.hpp"
#include "device/device_memory.hpp"

namespace partita::devices {

/// Plans allocate nothing: their work areas are the caller's.
class CudaTransforms final : public DeviceTransforms {
 public:
  /// Null: there is no cuFFT, `report_cufft` says why.
  static std::unique_ptr<CudaTransforms> make(Accelerator& device);
  ~CudaTransforms() override;
  CudaTransforms(const CudaTransforms&) = delete;
  CudaTransforms& operator=(const CudaTransforms&) = delete;

  std::string name() const override;
  std::shared_ptr<PreparedFft> prepare(const DeviceFft& what) override;
  void transform(const PreparedFft& fft, void* from, void* to, void* workspace, Stream stream) override;
  void pass(const kernels::cuda::LinePass& pass, Stream stream) override;
  void twiddle(const kernels::cuda::TwiddlePass& pass, Stream stream) override;
  bool has_lines_of(std::int64_t length, bool single) const override;
  void transform_lines(const kernels::cuda::LineTransform& what, Stream stream) override;
  bool has_planes_of(std::int64_t length, bool single, bool of_reals) const override;
  void transform_planes(const kernels::cuda::PlaneTransform& what, Stream stream) override;

 private:
  CudaTransforms(Accelerator& device, const CufftLibrary& library);
  void load(const PreparedFft& fft);
  void load_with(const PreparedFft& fft, void* one, void* other, void* workspace) const;

  Accelerator& device_;
  const CufftLibrary& library_;
  DeviceMemory anywhere_;  // addresses for what is never started
  std::vector<std::shared_ptr<PreparedFft>> prepared_;
};

}  // namespace partita::devices
