// What fake devices factorize with: the host's LAPACK, in the order of streams.
#pragma once

#include <functional>
#include <utility>

#include "device/device_factorizations.hpp"

namespace partita::testing {

class FakeFactorizations final : public devices::DeviceFactorizations {
 public:
  /// As so many launches.
  using Put = std::function<void(Stream stream, int launches, std::function<void()> work)>;

  explicit FakeFactorizations(Put put) : put_(std::move(put)) {}

  std::string name() const override { return "the host's LAPACK"; }
  /// Few, so that small matrices have several blocks.
  devices::MostReflectors most_reflectors(std::int64_t /*rows*/) const override { return {24, 10}; }
  std::shared_ptr<devices::PreparedFactorCall> prepare(const devices::FactorCall& what) override;
  void factor(const devices::PreparedFactorCall& call, void* panel, void* pivots, void* status,
              void* workspace, Stream stream) override;
  void solve(const devices::PreparedFactorCall& call, const void* triangle, void* to, void* workspace,
             Stream stream) override;
  void apply(const devices::PreparedFactorCall& call, const void* reflectors, const void* factors, void* to,
             void* workspace, Stream stream) override;
  void eigen_hermitian(Dtype dtype, std::int64_t n, void* a, void* values, bool vectors,
                       Stream stream) override;
  std::int64_t workspace_bytes(const devices::DeviceRowExchange& what) const override;
  /// As the kernels do it, chunk by chunk.
  void exchange(const devices::DeviceRowExchange& what, const void* pivots, void* to, void* workspace,
                Stream stream) override;

 private:
  Put put_;
};

}  // namespace partita::testing
