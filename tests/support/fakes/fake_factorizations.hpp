// What fake devices factorize with: the host's LAPACK, in the order of streams.
#pragma once

#include <functional>
#include <utility>

#include "device/device_factorizations.hpp"
#include "support/fakes/fake_packets.hpp"

namespace partita::testing {

class FakeFactorizations final : public devices::DeviceFactorizations {
 public:
  /// As so many launches.
  using Put = std::function<void(Stream stream, int launches, std::function<void()> work)>;

  FakeFactorizations(Put put, std::function<FakeWait(Stream)> wait_of)
      : put_(std::move(put)), wait_of_(std::move(wait_of)) {}

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
  std::int64_t shared_bytes(const devices::DeviceSharedSolve& what) const override;
  void clear_words(void* words, std::int64_t bytes, Stream stream) override;
  void solve_shared(const devices::DeviceSharedSolve& what, const devices::SharedSolvePlaces& places,
                    Stream stream) override;

 private:
  Put put_;
  std::function<FakeWait(Stream)> wait_of_;
};

}  // namespace partita::testing
