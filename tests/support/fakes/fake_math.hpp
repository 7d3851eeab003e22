// What fake devices compute with: the host's kernels, in the order of streams.
#pragma once

#include <functional>
#include <utility>

#include "device/device_math.hpp"

namespace partita::testing {

class FakeMath final : public devices::DeviceMath {
 public:
  using Put = std::function<void(Stream stream, std::function<void()> work)>;

  explicit FakeMath(Put put) : put_(std::move(put)) {}

  std::string name() const override { return "the host's kernels"; }
  bool multiplies(Dtype a, Dtype b, Dtype result) const override;
  /// Those of little depth, so that small tests copy, too; deeper ones show what comes with a product.
  bool wants_aligned(Dtype factors, std::int64_t, std::int64_t, std::int64_t k) const override {
    return size_of(factors) == 2 && k < 32;
  }
  std::shared_ptr<devices::DeviceProduct> prepare(const devices::DeviceGemm& what, bool) override {
    return std::make_shared<devices::DeviceProduct>(what);
  }
  bool makes(const devices::DeviceProduct& product, const devices::GemmPlaces& places) const override;
  void gemm(const devices::DeviceProduct& product, const devices::GemmPlaces& places,
            std::complex<double> alpha, std::complex<double> beta, Stream stream) override;
  /// Products so far that came with more than their sums, of all fake devices.
  static int ended_products();
  void pass(const devices::ElementPass& what, const devices::ElementNest& nest, Stream stream) override;

 private:
  Put put_;
};

}  // namespace partita::testing
