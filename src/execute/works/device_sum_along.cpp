// to[i] += the sum of from over all dimensions but one, on a device.
#include <array>
#include <partita/reduction.hpp>

#include "base/check.hpp"
#include "base/round.hpp"
#include "execute/element_nests.hpp"
#include "execute/works/device_line_sums.hpp"
#include "kernels/host/number_runs.hpp"

namespace partita::execution {
namespace {

using devices::DeviceArithmetic;
using devices::ElementPass;

class DeviceSum final : public DeviceBoundWork {
 public:
  DeviceSum(const SumAlong& work, const DeviceWorkBinding& binding) : sums_(work, binding) {}

  void enqueue(const AddressOf& address, const Parameters& /*parameters*/, Stream stream) override {
    sums_.enqueue(address, stream);
  }
  std::int64_t workspace_bytes() const override { return sums_.workspace_bytes(); }

 private:
  DeviceLineSums sums_;
};

}  // namespace

DeviceLineSums::DeviceLineSums(const SumAlong& work, const DeviceWorkBinding& binding)
    : device_(binding.device),
      from_(work.from, binding.memory),
      to_(work.to, binding.memory),
      workspace_{binding.workspaces, binding.memory.plan.rank, 0, {}},
      conjugate_(work.conjugate && is_complex(from_.dtype())),
      joined_(is_complex(from_.dtype()) ? Dtype::c128 : Dtype::f64) {
  check<UnsupportedError>(
      kernels::computes_in(from_.dtype(), joined_) && kernels::computes_in(to_.dtype(), joined_),
      "{}: no sums of {} onto {}", binding.memory.plan.operation, name(from_.dtype()), name(to_.dtype()));
  if (work.from.region.empty()) return;
  const std::int64_t lines = to_.extent(0);
  invariant(from_.extent(work.axis) == lines, "sums of {} lines onto {}", from_.extent(work.axis), lines);
  rounded_offset_ =
      round_up(DeviceArithmetic::fold_scratch_bytes + lines * size_of(joined_), workspace_alignment);
  one_offset_ = round_up(rounded_offset_ + lines * size_of(to_.dtype()), workspace_alignment);
  workspace_bytes_ = one_offset_ + (conjugate_ ? size_of(from_.dtype()) : 0);
  std::vector<std::vector<PartAxis>> axes;
  for (int d = 0; d < from_.dimensions(); ++d) {
    axes.emplace_back(devices::ElementNest::parts);
    axes.back()[ElementPass::from] = from_.axis(d);
    if (d == work.axis) axes.back()[ElementPass::to] = to_.axis(0);
  }
  for (const devices::ElementNest& nest : element_nests(axes, work.from.region.shape(), ElementPass::from)) {
    passes_.push_back(pass_of(nest));
  }
}

/// Of the loops that of the lines moves in `to`; a nest has at most one of them.
DeviceLineSums::Pass DeviceLineSums::pass_of(const devices::ElementNest& nest) const {
  Pass pass;
  pass.from_offset = nest.offset[ElementPass::from];
  pass.join.dtype = from_.dtype();
  pass.join.joined = joined_;
  if (conjugate_) pass.join.folded = kernels::Folded::conjugate_product;
  std::int64_t lines = 1, apart = 0;
  for (const devices::ElementNest::Loop& loop : nest.loops) {
    const std::int64_t step = loop.strides[ElementPass::from];
    if (loop.strides[ElementPass::to] == 0) {
      pass.join.over.push_back({loop.count, {0, step, 0}});
      continue;
    }
    lines = loop.count;
    apart = loop.strides[ElementPass::to];
    pass.join.kept.push_back({lines, {1, step, 0}});
  }
  pass.join = kernels::simplify(std::move(pass.join));
  pass.round.joined = joined_;
  pass.round.result = to_.dtype();
  pass.round.loops = {{lines, {1, 1, 0}}};
  const std::int64_t item = size_of(to_.dtype());
  pass.add = kernels::simplify(
      kernels::StridedCopy{item, 0, nest.offset[ElementPass::to] * item, {{lines, item, apart * item}}});
  return pass;
}

/// What is conjugated is multiplied by it.
void DeviceLineSums::write_one(char* to, Stream stream) const {
  const std::int64_t item = size_of(from_.dtype());
  std::array<std::byte, 16> one{};
  write_identity(Reduction::product, from_.dtype(), one.data());
  device_.fill({item, 0, 0, {}}, one.data(), item, to, stream);
}

void DeviceLineSums::enqueue(const AddressOf& address, Stream stream) {
  if (passes_.empty()) return;
  char* const scratch = address(workspace_);
  char* const sums = scratch + DeviceArithmetic::fold_scratch_bytes;
  char* const rounded = scratch + rounded_offset_;
  char* const from = from_.base(address);
  char* const one = conjugate_ ? scratch + one_offset_ : nullptr;
  if (conjugate_) write_one(one, stream);
  for (Pass& pass : passes_) {
    pass.join.data = {sums, from + pass.from_offset * size_of(from_.dtype()), one};
    device_.fold(pass.join, scratch, stream);
    pass.round.data = {rounded, sums};
    device_.finish(pass.round, stream);
    device_.accumulate(pass.add, to_.dtype(), Reduction::sum, rounded, to_.base(address), stream);
  }
}

std::unique_ptr<DeviceBoundWork> bind_device_sum_along(const SumAlong& work,
                                                       const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceSum>(work, binding);
}

}  // namespace partita::execution
