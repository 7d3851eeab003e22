// cuSOLVER, the triangular solves of cuBLAS and kernels of our own, as what a CUDA device factorizes with.
#pragma once

#include <functional>
#include <vector>

#include "device/cuda_factor_handles.hpp"

namespace partita::devices {

/// Two handles of each library a context, so that a panel may be factorized while others are updated.
class CudaFactorizations final : public DeviceFactorizations {
 public:
  /// Null: a library is absent, `why_none` says which and why. Errors: they are there and do not start.
  /// `most_blocks`: as LaunchRoom::solves.
  static std::unique_ptr<CudaFactorizations> make(Accelerator& device, std::function<unsigned()> most_blocks);
  static std::string why_none();
  CudaFactorizations(const CudaFactorizations&) = delete;
  CudaFactorizations& operator=(const CudaFactorizations&) = delete;

  std::string name() const override;
  MostReflectors most_reflectors(std::int64_t rows) const override;
  std::shared_ptr<PreparedFactorCall> prepare(const FactorCall& what) override;
  void factor(const PreparedFactorCall& call, void* panel, void* pivots, void* status, void* workspace,
              Stream stream) override;
  void solve(const PreparedFactorCall& call, const void* triangle, void* to, void* workspace,
             Stream stream) override;
  void apply(const PreparedFactorCall& call, const void* reflectors, const void* factors, void* to,
             void* workspace, Stream stream) override;
  void eigen_hermitian(Dtype dtype, std::int64_t n, void* a, void* values, bool vectors,
                       Stream stream) override;
  std::int64_t workspace_bytes(const DeviceRowExchange& what) const override;
  void exchange(const DeviceRowExchange& what, const void* pivots, void* to, void* workspace,
                Stream stream) override;
  std::int64_t shared_bytes(const DeviceSharedSolve& what) const override;
  void clear_words(void* words, std::int64_t bytes, Stream stream) override;
  void solve_shared(const DeviceSharedSolve& what, const SharedSolvePlaces& places, Stream stream) override;

 private:
  struct Call;
  struct Places;

  CudaFactorizations(Accelerator& device, std::function<unsigned()> most_blocks);
  const CudaFactorHandles& handles_of(const FactorCall& what) const;
  void measure(Call& call) const;
  void measure(const DeviceFactorization& what, Call& call) const;
  static void measure(const DeviceTriangularSolve& what, Call& call);
  void measure(const DeviceReflectors& what, Call& call) const;
  void load(Call& call) const;
  void put(const PreparedFactorCall& prepared, const Places& places, Stream stream);
  void start(const Call& call, const Places& places, Stream stream) const;
  void start(const DeviceFactorization& what, const Call& call, const Places& places, Stream stream) const;
  void start(const DeviceTriangularSolve& what, const Call& call, const Places& places, Stream stream) const;
  void start(const DeviceReflectors& what, const Call& call, const Places& places, Stream stream) const;

  Accelerator& device_;
  std::function<unsigned()> most_blocks_;
  const CusolverLibrary& library_;
  std::shared_ptr<cusolverDnParams> options_;
  CudaFactorHandles factorizing_, applying_;
  std::vector<std::shared_ptr<PreparedFactorCall>> prepared_;
};

}  // namespace partita::devices
