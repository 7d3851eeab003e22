#include "execute/works/device_line_pass.hpp"

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "execute/works/transform_nests.hpp"
#include "kernels/host/transform.hpp"

namespace partita::execution {
namespace {

using kernels::FftwLoop;
using kernels::cuda::ElementLoops;
using kernels::cuda::LinePass;
using kernels::cuda::LineStep;

ElementLoops loops_of(const std::vector<FftwLoop>& loops) {
  ElementLoops result;
  check<UnsupportedError>(loops.size() <= ElementLoops::most, "a transform with a batch of {} loops",
                          loops.size());
  result.loops = static_cast<int>(loops.size());
  for (std::size_t l = 0; l < loops.size(); ++l) {
    result.counts[l] = loops[l].count;
    result.strides[l][0] = loops[l].from_stride;
    result.strides[l][1] = loops[l].to_stride;
  }
  return result;
}

std::int64_t lines_of(const std::vector<FftwLoop>& loops) {
  std::int64_t lines = 1;
  for (const FftwLoop& loop : loops) lines *= loop.count;
  return lines;
}

/// Over all elements of loops: the last one is the line.
LinePass pass_over(std::vector<FftwLoop> loops, LineStep step, bool single) {
  loops = merged(std::move(loops));
  LinePass pass;
  pass.step = step;
  pass.single = single;
  pass.positions = 1;
  if (!loops.empty()) {
    pass.positions = loops.back().count;
    pass.from_stride = loops.back().from_stride;
    pass.to_stride = loops.back().to_stride;
    loops.pop_back();
  }
  pass.batch = loops_of(loops);
  pass.lines = lines_of(loops);
  return pass;
}

bool is_single(const TransformNest& nest) {
  return nest.precision == kernels::FftwPrecision::f32;
}

/// In place on half spectra along one line: only what must be real is visited, the first element and of an
/// even line the last one.
LinePass ends_of_half_spectra(const TransformNest& nest) {
  const FftwLoop& line = nest.lines.front();
  const std::int64_t ends = line.count % 2 == 0 ? 2 : 1;
  std::vector<FftwLoop> batch = nest.batch;
  for (FftwLoop& loop : batch) loop.to_stride = loop.from_stride;
  batch = merged(std::move(batch));
  LinePass pass;
  pass.step = LineStep::half_spectrum;
  pass.single = is_single(nest);
  pass.n = pass.positions = ends;
  pass.from_stride = pass.to_stride = line.count / 2 * line.from_stride;
  pass.batch = loops_of(batch);
  pass.lines = lines_of(batch);
  pass.along = false;
  return pass;
}

class DirectPass final : public DevicePass {
 public:
  DirectPass(devices::DeviceTransforms& device, const TransformNest& nest, const FftCalls& calls,
             const PassPlace& place)
      : device_(device), fft_(device.prepare(calls.fft)) {
    const kernels::TransformItems items = kernels::items_of(nest.kind, nest.precision);
    for (const FftCalls::At& at : calls.calls)
      places_.push_back({place.from + at.from * items.from, place.to + at.to * items.to});
    std::vector<FftwLoop> loops = nest.batch;
    for (const FftwLoop& line : nest.lines) {
      const bool halved = nest.kind == TransformKind::real_to_complex && &line == &nest.lines.back();
      loops.push_back({halved ? line.count / 2 + 1 : line.count, 0, line.to_stride});
    }
    for (FftwLoop& loop : loops) loop.from_stride = loop.to_stride;
    const bool real = nest.kind == TransformKind::complex_to_real;
    scaling_ =
        pass_over(std::move(loops), real ? LineStep::copy_real : LineStep::copy_complex, is_single(nest));
    place_ = place;
    if (real) ends_ = ends_of_half_spectra(nest);
  }

  std::int64_t workspace_bytes() const override { return fft_->workspace_bytes(); }

  void enqueue(const Addresses& at, double factor, Stream stream) override {
    if (ends_) {
      LinePass ends = *ends_;
      ends.to = at.from + place_.from;
      ends.from = ends.to;
      device_.pass(ends, stream);
    }
    for (const PassPlace& place : places_)
      device_.transform(*fft_, at.from + place.from, at.to + place.to, at.workspace, stream);
    if (factor == 1) return;
    LinePass scaling = scaling_;
    scaling.from = scaling.to = at.to + place_.to;
    scaling.scale = factor;
    device_.pass(scaling, stream);
  }

 private:
  devices::DeviceTransforms& device_;
  std::shared_ptr<devices::PreparedFft> fft_;
  std::vector<PassPlace> places_;
  PassPlace place_;
  LinePass scaling_;
  std::optional<LinePass> ends_;  // before it: cuFFT reads what it should not, at some lengths (8192 of f32)
};

class SingleElements final : public DevicePass {
 public:
  SingleElements(devices::DeviceTransforms& device, const TransformNest& nest, const PassPlace& place)
      : device_(device), place_(place) {
    const LineStep step = nest.kind == TransformKind::real_to_complex   ? LineStep::widen
                          : nest.kind == TransformKind::complex_to_real ? LineStep::narrow
                                                                        : LineStep::copy_complex;
    pass_ = pass_over(nest.batch, step, is_single(nest));
  }

  void enqueue(const Addresses& at, double factor, Stream stream) override {
    if (at.from + place_.from == at.to + place_.to && factor == 1) return;
    LinePass pass = pass_;
    pass.from = at.from + place_.from;
    pass.to = at.to + place_.to;
    pass.scale = factor;
    device_.pass(pass, stream);
  }

 private:
  devices::DeviceTransforms& device_;
  PassPlace place_;
  LinePass pass_;
};

}  // namespace

std::unique_ptr<DevicePass> direct_pass(devices::DeviceTransforms& device, const TransformNest& nest,
                                        const FftCalls& calls, const PassPlace& place) {
  return std::make_unique<DirectPass>(device, nest, calls, place);
}

std::unique_ptr<DevicePass> single_elements(devices::DeviceTransforms& device, const TransformNest& nest,
                                            const PassPlace& place) {
  return std::make_unique<SingleElements>(device, nest, place);
}

}  // namespace partita::execution
