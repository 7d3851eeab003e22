// TransformInto on a device: one launch for all lines whose results are cut alike, along one axis or two.
#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "execute/works/device_lines.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

static_assert(kernels::cuda::LineTransform::longest == TransformInto::longest);
static_assert(kernels::cuda::PlaneTransform::longest == TransformInto::longest_of_first);
static_assert(kernels::cuda::PlaneTransform::shortest_of_reals == TransformInto::shortest_of_real_first);

/// The share of the links in what the work runs concurrently with; 0 for the last one if it stores nothing:
/// it has the device for itself.
double share_of_links(const DeviceWorkBinding& binding, const TransformInto& work) {
  const planning::PutToPeers& put = binding.put_to_peers;
  const bool alone =
      binding.work == put.last && planning::bytes_written_to_peers(binding.memory.plan, work) == 0;
  return alone ? 0 : put.share;
}

bool cut_alike(const Part& a, const Part& b, int axis) {
  for (std::size_t d = 0; d < a.region.sets.size(); ++d) {
    if (static_cast<int>(d) != axis && !(a.region.sets[d] == b.region.sets[d])) return false;
  }
  return true;
}

/// The rows of planes, as the kernel of lines sees them.
TransformInto rows_of(const Transform& first) {
  check(first.axes.size() == 1 && !first.scaled, "what planes begin with is along one axis, and not scaled");
  return {{}, first.from, {first.to}, static_cast<int>(first.axes[0]), first.kind, false};
}

class DeviceTransformInto final : public DeviceBoundWork {
 public:
  DeviceTransformInto(const TransformInto& work, const DeviceWorkBinding& binding)
      : work_(work), counters_(binding.counters), device_(binding.transforms()) {
    const Dtype dtype = planning::dtype_at(binding.memory.plan, work_.from.place);
    check(is_complex(dtype), "a transform into the memory of several ranks needs complex numbers, not {}",
          name(dtype));
    check_length(dtype);
    std::vector<LinesOfParts> lines = lines_of(work_, binding.memory);
    if (work.first && lines.size() == 1 && makes_planes(dtype)) {
      rows_ = rows_of(*work.first);
      planes_.emplace(LinesOfParts(rows_, binding.memory, {rows_.to.data()}), rows_.axis,
                      std::move(lines.front()), work_.axis);
      return;
    }
    if (work.first) first_ = bind_device_transform(*work.first, binding);
    const double link_share = share_of_links(binding, work_);
    for (LinesOfParts& some : lines) launches_.emplace_back(std::move(some), link_share);
  }

  std::int64_t workspace_bytes() const override { return first_ ? first_->workspace_bytes() : 0; }

  std::int64_t counters() const override {
    return planes_ ? kernels::cuda::counters_of(planes_->planes()) : 0;
  }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    const double scale = work_.scaled ? parameters.scale : 1;
    if (planes_) return planes_->enqueue(device_, address, counters_, scale, stream);
    if (first_) first_->enqueue(address, parameters, stream);
    for (LinesLaunch& lines : launches_) lines.enqueue(device_, address, scale, stream);
  }

 private:
  static std::int64_t length_along(const Part& part, std::int64_t axis) {
    return part.region.sets[static_cast<std::size_t>(axis)].size();
  }

  void check_length(Dtype dtype) const {
    const std::int64_t length = length_along(work_.from, work_.axis);
    check<UnsupportedError>(device_.has_lines_of(length, dtype == Dtype::c64),
                            "this device has no transform of {} elements that stores to peers; ask for "
                            "exchange \"copies\"",
                            length);
  }

  bool makes_planes(Dtype dtype) const {
    const std::int64_t length = length_along(work_.from, work_.axis);
    const bool of_reals = work_.first->kind == TransformKind::real_to_complex;
    return length_along(work_.first->from, work_.first->axes[0]) == length &&
           device_.has_planes_of(length, dtype == Dtype::c64, of_reals);
  }

  static std::vector<LinesOfParts> lines_of(const TransformInto& work, const WorkBinding& binding) {
    std::vector<LinesOfParts> lines;
    std::vector<const Part*> rest;
    for (const Part& part : work.to) {
      if (!part.region.empty()) rest.push_back(&part);
    }
    while (!rest.empty()) {
      const auto others = std::stable_partition(rest.begin(), rest.end(), [&](const Part* part) {
        return cut_alike(*part, *rest.front(), work.axis);
      });
      lines.emplace_back(work, binding, std::vector(rest.begin(), others));
      rest.erase(rest.begin(), others);
    }
    return lines;
  }

  TransformInto work_, rows_;  // of which the lines are parts
  Place counters_;
  devices::DeviceTransforms& device_;
  std::optional<PlanesLaunch> planes_;  // or one after the other:
  std::unique_ptr<DeviceBoundWork> first_;
  std::vector<LinesLaunch> launches_;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_transform_into(const TransformInto& work,
                                                            const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceTransformInto>(work, binding);
}

}  // namespace partita::execution
