// What fake devices transform with: FFTW, and the passes of devices as plain code, in the order of streams.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "device/device_transforms.hpp"

namespace partita::testing {

/// How many plans have been made in this process so far.
int fake_transforms_prepared();

/// Whether devices have kernels for lines that are stored in peers' memory, from now on: at first they do.
void fake_transforms_have_lines(bool they_do);

class FakeTransforms final : public devices::DeviceTransforms {
 public:
  using Put = std::function<void(Stream stream, std::function<void()> work)>;

  explicit FakeTransforms(Put put) : put_(std::move(put)) {}

  std::string name() const override { return "the host's FFTW"; }
  std::shared_ptr<devices::PreparedFft> prepare(const devices::DeviceFft& what) override;
  void transform(const devices::PreparedFft& fft, void* from, void* to, void* workspace,
                 Stream stream) override;
  void pass(const kernels::cuda::LinePass& pass, Stream stream) override;
  void twiddle(const kernels::cuda::TwiddlePass& pass, Stream stream) override;
  bool has_lines_of(std::int64_t length, bool single) const override;
  void transform_lines(const kernels::cuda::LineTransform& what, Stream stream) override;
  bool has_planes_of(std::int64_t length, bool single, bool of_reals) const override;
  void transform_planes(const kernels::cuda::PlaneTransform& what, Stream stream) override;

 private:
  Put put_;
  std::vector<std::shared_ptr<devices::PreparedFft>> prepared_;  // streams may have work of them
};

}  // namespace partita::testing
