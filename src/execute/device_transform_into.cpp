// TransformInto on a device: one launch for all lines whose results are cut alike, along one axis or two.
#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "execute/device_lines.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

static_assert(kernels::cuda::LineTransform::longest == TransformInto::longest);
static_assert(kernels::cuda::PlaneTransform::longest == TransformInto::longest_of_first);

/// The share of the links in what the work is started beside; 0 for the last one, if it stores nothing there:
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

/// The first of two transforms, as a work of its own.
TransformInto first_of(const TransformInto& work) {
  const TransformInto::First& first = *work.first;
  return {{}, first.from, {first.to}, first.axis, work.kind, false};
}

class DeviceTransformInto final : public DeviceBoundWork {
 public:
  DeviceTransformInto(const TransformInto& work, const DeviceWorkBinding& binding)
      : work_(work), counters_(binding.counters), device_(binding.transforms()) {
    const Dtype dtype = planning::dtype_at(binding.memory.plan, work_.from.place);
    check(is_complex(dtype), "a transform into the memory of several ranks takes complex numbers, not {}",
          name(dtype));
    if (work.first) first_ = first_of(work);
    check_length(work_, dtype);
    if (first_) check_length(*first_, dtype);
    std::vector<LinesOfParts> lines = lines_of(work_, binding.memory, size_of(dtype));
    std::vector<LinesOfParts> rows;
    if (first_) rows = lines_of(*first_, binding.memory, size_of(dtype));
    if (rows.size() == 1 && lines.size() == 1 && makes_planes(dtype)) {
      planes_.emplace(std::move(rows.front()), first_->axis, std::move(lines.front()), work_.axis);
      return;
    }
    for (LinesOfParts& some : rows) launches_.emplace_back(std::move(some), 0);
    scaled_from_ = launches_.size();
    const double link_share = share_of_links(binding, work_);
    for (LinesOfParts& some : lines) launches_.emplace_back(std::move(some), link_share);
  }

  std::int64_t counters() const override {
    return planes_ ? kernels::cuda::counters_of(planes_->planes()) : 0;
  }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    const double scale = work_.scaled ? parameters.scale : 1;
    if (planes_) return planes_->enqueue(device_, address, counters_, scale, stream);
    for (std::size_t i = 0; i < launches_.size(); ++i)
      launches_[i].enqueue(device_, address, i < scaled_from_ ? 1 : scale, stream);
  }

 private:
  static std::int64_t length_of(const TransformInto& work) {
    return work.from.region.sets[static_cast<std::size_t>(work.axis)].size();
  }

  void check_length(const TransformInto& work, Dtype dtype) const {
    check<UnsupportedError>(device_.has_lines_of(length_of(work), dtype == Dtype::c64),
                            "this device has no transform of {} elements that stores to peers; ask for "
                            "exchange \"copies\"",
                            length_of(work));
  }

  bool makes_planes(Dtype dtype) const {
    const std::int64_t length = length_of(work_);
    return length_of(*first_) == length && device_.has_planes_of(length, dtype == Dtype::c64);
  }

  static std::vector<LinesOfParts> lines_of(const TransformInto& work, const WorkBinding& binding,
                                            std::int64_t item) {
    std::vector<LinesOfParts> lines;
    std::vector<const Part*> rest;
    for (const Part& part : work.to) {
      if (!part.region.empty()) rest.push_back(&part);
    }
    while (!rest.empty()) {
      const auto others = std::stable_partition(rest.begin(), rest.end(), [&](const Part* part) {
        return cut_alike(*part, *rest.front(), work.axis);
      });
      lines.emplace_back(work, binding, item, std::vector(rest.begin(), others));
      rest.erase(rest.begin(), others);
    }
    return lines;
  }

  TransformInto work_;  // of which the lines are parts
  std::optional<TransformInto> first_;
  Place counters_;
  devices::DeviceTransforms& device_;
  std::optional<PlanesLaunch> planes_;  // or one after the other
  std::vector<LinesLaunch> launches_;
  std::size_t scaled_from_ = 0;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_transform_into(const TransformInto& work,
                                                            const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceTransformInto>(work, binding);
}

}  // namespace partita::execution
