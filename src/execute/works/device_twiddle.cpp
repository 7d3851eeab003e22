// Twiddle on a device: one thread per element, each with its root of unity.
#include "base/check.hpp"
#include "execute/element_nests.hpp"
#include "execute/works/device_bound_work.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using kernels::cuda::TwiddlePass;

/// What a loop moves: the element, j and k.
enum Moved : std::size_t { element, along_axis, along_other, moved };

class DeviceTwiddle final : public DeviceBoundWork {
 public:
  DeviceTwiddle(const Twiddle& work, const DeviceWorkBinding& binding)
      : part_(work.part, binding.memory), device_(binding.transforms()) {
    if (work.part.region.empty()) return;
    TwiddlePass pass;
    pass.single = part_.dtype() == Dtype::c64;
    pass.length = work.length;
    pass.sign = work.sign;
    const IndexSet all = IndexSet::range(0, std::int64_t{1} << 62);  // in which an index is its own position
    std::vector<std::vector<PartAxis>> axes;
    for (int d = 0; d < part_.dimensions(); ++d) {
      axes.emplace_back(devices::ElementNest::parts);
      axes.back()[element] = part_.axis(d);
      const PartAxis index{&work.part.region.sets[static_cast<std::size_t>(d)], &all, 1};
      if (d == work.axis) axes.back()[along_axis] = index;
      if (d == work.other) axes.back()[along_other] = index;
    }
    for (const devices::ElementNest& nest : element_nests(axes, work.part.region.shape(), element))
      passes_.push_back(pass_over(pass, nest));
  }

  void enqueue(const AddressOf& address, const Parameters& /*parameters*/, Stream stream) override {
    for (TwiddlePass& pass : passes_) {
      pass.data = part_.base(address);
      device_.twiddle(pass, stream);
    }
  }

 private:
  static TwiddlePass pass_over(const TwiddlePass& like, const devices::ElementNest& nest) {
    static_assert(kernels::cuda::ElementLoops::most >= devices::ElementNest::most_loops);
    TwiddlePass pass = like;
    for (std::size_t x = 0; x < moved; ++x) pass.offset[x] = nest.offset[x];
    pass.loops.loops = static_cast<int>(nest.loops.size());
    for (std::size_t l = 0; l < nest.loops.size(); ++l) {
      pass.loops.counts[l] = nest.loops[l].count;
      for (std::size_t x = 0; x < moved; ++x) pass.loops.strides[l][x] = nest.loops[l].strides[x];
    }
    return pass;
  }

  BoundPart part_;
  devices::DeviceTransforms& device_;
  std::vector<TwiddlePass> passes_;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_twiddle(const Twiddle& work, const DeviceWorkBinding& binding) {
  check_twiddle(work, binding.memory);
  return std::make_unique<DeviceTwiddle>(work, binding);
}

}  // namespace partita::execution
