// The last pass over a result on a device: to = scale_d activation(scale_a scale_b scale from + beta c +
// bias), and the sums of that along its lines, before scale_d.
#include <optional>

#include "execute/element_nests.hpp"
#include "execute/works/device_line_sums.hpp"
#include "execute/works/epilogue_parts.hpp"
#include "execute/works/scalar_as.hpp"

namespace partita::execution {
namespace {

class DeviceEpilogue final : public DeviceBoundWork {
 public:
  DeviceEpilogue(const ApplyEpilogue& work, const DeviceWorkBinding& binding)
      : math_(binding.math()),
        parts_(work, binding.memory),
        scale_d_(bound_if(work.has_scale_d, work.scale_d, binding.memory)),
        amax_(bound_if(work.has_amax, work.amax, binding.memory)),
        nests_(element_nests(parts_.axes(), work.from.region.shape(), EpilogueParts::to)) {
    static_assert(static_cast<int>(EpilogueParts::scale_b) ==
                  static_cast<int>(devices::ElementPass::scale_b));
    pass_.computed = computed_in(work, binding.memory.plan);
    pass_.activation = work.activation;
    beta_ = work.beta;
    for (std::size_t x = 0; x < devices::ElementNest::parts; ++x) {
      if (parts_[x]) pass_.dtypes[x] = parts_[x]->dtype();
    }
    if (!work.has_gradient) return;
    const bool sums_before_rounding = is_float8(parts_[EpilogueParts::to]->dtype());
    sums_.emplace(SumAlong{sums_before_rounding ? work.from : work.to, work.gradient,
                           parts_.axis(work.gradient_along_rows)},
                  binding);
    if (sums_before_rounding) in_place_ = nests_in_place(work.from.region.shape());
  }

  std::int64_t workspace_bytes() const override { return sums_ ? sums_->workspace_bytes() : 0; }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    if (nests_.empty()) return;
    pass_.scale = parameters.scale;
    pass_.beta = scalar_of(pass_.computed, planning::beta_of(beta_, parameters));
    for (std::size_t x = 0; x < devices::ElementNest::parts; ++x) {
      pass_.data[x] = parts_[x] ? parts_[x]->base(address) : nullptr;
    }
    devices::ElementPass last = in_place_.empty() ? pass_ : rounding();
    last.scale_d = scale_d_ ? scale_d_->base(address) : nullptr;
    last.amax = amax_ ? amax_->base(address) : nullptr;
    if (!in_place_.empty()) {
      pass_.data[EpilogueParts::to] = pass_.data[EpilogueParts::from];
      pass_.dtypes[EpilogueParts::to] = pass_.dtypes[EpilogueParts::from];
      for (const devices::ElementNest& nest : in_place_) math_.pass(pass_, nest, stream);
      sums_->enqueue(address, stream);
    }
    for (const devices::ElementNest& nest : nests_) math_.pass(last, nest, stream);
    if (sums_ && in_place_.empty()) sums_->enqueue(address, stream);
  }

 private:
  /// Nobody reads the sums after this.
  std::vector<devices::ElementNest> nests_in_place(const Extents& extents) const {
    std::vector<std::vector<PartAxis>> axes = parts_.axes();
    for (std::vector<PartAxis>& here : axes) here[EpilogueParts::to] = here[EpilogueParts::from];
    return element_nests(axes, extents, EpilogueParts::from);
  }

  /// What is left to do of values that have been computed in place.
  devices::ElementPass rounding() const {
    devices::ElementPass last;
    last.computed = pass_.computed;
    for (const std::size_t x : {EpilogueParts::from, EpilogueParts::to}) {
      last.dtypes[x] = parts_[x]->dtype();
      last.data[x] = pass_.data[x];
    }
    return last;
  }

  devices::DeviceMath& math_;
  EpilogueParts parts_;
  std::optional<BoundPart> scale_d_, amax_;
  std::vector<devices::ElementNest> nests_;     // into the result
  std::vector<devices::ElementNest> in_place_;  // before it, where its numbers are too short to be summed
  devices::ElementPass pass_;
  Beta beta_ = Beta::given;  // of c
  std::optional<DeviceLineSums> sums_;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_epilogue(const ApplyEpilogue& work,
                                                      const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceEpilogue>(work, binding);
}

}  // namespace partita::execution
