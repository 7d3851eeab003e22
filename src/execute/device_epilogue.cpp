// The last pass over a result on a device: to = activation(scale from + beta c + bias), and the sums of that
// along its lines.
#include <optional>

#include "execute/device_line_sums.hpp"
#include "execute/element_nests.hpp"
#include "execute/epilogue_parts.hpp"

namespace partita::execution {
namespace {

class DeviceEpilogue final : public DeviceBoundWork {
 public:
  DeviceEpilogue(const ApplyEpilogue& work, const DeviceWorkBinding& binding)
      : math_(binding.math()),
        parts_(work, binding.memory),
        nests_(element_nests(parts_.axes(), work.from.region.shape(), EpilogueParts::to)) {
    static_assert(static_cast<int>(EpilogueParts::bias) == static_cast<int>(devices::ElementPass::bias));
    pass_.computed = computed_in(work, binding.memory.plan);
    pass_.activation = work.activation;
    for (std::size_t x = 0; x < devices::ElementNest::parts; ++x) {
      if (parts_[x]) pass_.dtypes[x] = parts_[x]->dtype();
    }
    if (work.has_gradient)
      sums_.emplace(work.to, parts_.axis(work.gradient_along_rows), work.gradient, binding);
  }

  std::int64_t workspace_bytes() const override { return sums_ ? sums_->workspace_bytes() : 0; }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    if (nests_.empty()) return;
    pass_.scale = parameters.scale;
    pass_.beta = is_complex(pass_.computed) ? parameters.beta : parameters.beta.real();
    for (std::size_t x = 0; x < devices::ElementNest::parts; ++x) {
      pass_.data[x] = parts_[x] ? parts_[x]->base(address) : nullptr;
    }
    for (const devices::ElementNest& nest : nests_) math_.pass(pass_, nest, stream);
    if (sums_) sums_->enqueue(address, stream);
  }

 private:
  devices::DeviceMath& math_;
  EpilogueParts parts_;
  std::vector<devices::ElementNest> nests_;
  devices::ElementPass pass_;
  std::optional<DeviceLineSums> sums_;  // of what it has written
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_epilogue(const ApplyEpilogue& work,
                                                      const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceEpilogue>(work, binding);
}

}  // namespace partita::execution
