// TransformInto on a device: one kernel for all lines whose results are cut alike.
#include <algorithm>

#include "base/check.hpp"
#include "execute/device_bound_work.hpp"
#include "execute/loops.hpp"
#include "execute/lower.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using kernels::cuda::LineTransform;
static_assert(LineTransform::longest == TransformInto::longest);

/// A loop over lines; strides in elements, of what is read and by piece.
struct LineLoop {
  std::int64_t count = 0;
  std::int64_t from = 0;
  std::vector<std::int64_t> to;

  /// Whether going round it is one step of `outer`.
  bool continues(const LineLoop& outer) const {
    bool result = outer.from == from * count;
    for (std::size_t p = 0; p < to.size(); ++p) result = result && outer.to[p] == to[p] * count;
    return result;
  }
};

/// Slowest first; neighbouring loops that are one are joined.
void simplify(std::vector<LineLoop>& loops) {
  std::erase_if(loops, [](const LineLoop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(loops, std::ranges::greater(), &LineLoop::from);
  for (std::size_t l = loops.size(); l-- > 1;) {
    if (!loops[l].continues(loops[l - 1])) continue;
    loops[l].count *= loops[l - 1].count;
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(l) - 1);
  }
}

/// Parts that are cut alike along all dimensions but that of the lines.
class LinesOfParts {
 public:
  LinesOfParts(const TransformInto& work, const WorkBinding& binding, std::int64_t item,
               std::vector<const Part*> parts, double link_share)
      : work_(work), item_(item), parts_(std::move(parts)) {
    what_.link_share = link_share;
    std::ranges::sort(parts_, {}, [&](const Part* part) { return set(*part, work.axis).front(); });
    const Part& first = *parts_.front();
    from_ = side(work.from.place, work.from.region, binding);
    for (const Part* part : parts_) to_.push_back(side(part->place, part->region, binding));
    check<UnsupportedError>(parts_.size() <= LineTransform::most_pieces, "lines that are cut into {} pieces",
                            parts_.size());
    from_offset_ = from_.byte_offset;
    for (const Side& one : to_) to_offsets_.push_back(one.byte_offset);
    add_lines();
    for (int d = 0; d < static_cast<int>(first.region.sets.size()); ++d) {
      if (d != work.axis) add_loop(d);
    }
    finish();
  }

  void enqueue(devices::DeviceTransforms& device, const AddressOf& address, double scale, Stream stream) {
    what_.from = address(work_.from.place) + from_offset_;
    for (std::size_t p = 0; p < to_.size(); ++p)
      what_.piece[p].to = address(parts_[p]->place) + to_offsets_[p];
    what_.scale = scale;
    device.transform_lines(what_, stream);
  }

 private:
  static const IndexSet& set(const Part& part, int dimension) {
    return part.region.sets[static_cast<std::size_t>(dimension)];
  }
  Side side(const Place& place, const Region& region, const WorkBinding& binding) const {
    return side_of(binding.plan, place, region, binding.strides[static_cast<std::size_t>(place.buffer)],
                   item_);
  }

  /// Where elements lie along a dimension: their distance, in elements. The offset goes on to the first.
  std::int64_t walk(const IndexSet& elements, const Side& side, int dimension, std::int64_t& offset) const {
    const Progression there =
        progression_of({elements, side.owned.sets[static_cast<std::size_t>(dimension)]});
    offset += there.first * side.byte_strides[dimension];
    return there.step * side.byte_strides[dimension] / item_;
  }

  void add_lines() {
    const IndexSet& line = set(work_.from, work_.axis);
    what_.single = item_ == size_of(Dtype::c64);
    what_.backward = work_.kind == TransformKind::complex_backward;
    what_.length = line.size();
    what_.from_along = walk(line, from_, work_.axis, from_offset_);
    what_.pieces = static_cast<int>(parts_.size());
    what_.over_links = std::ranges::any_of(
        parts_, [&](const Part* part) { return part->place.rank != work_.from.place.rank; });
    std::int64_t next = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const IndexSet& some = set(*parts_[p], work_.axis);
      const Progression here = progression_of({some, line});
      check<UnsupportedError>(here.first == next && (here.step == 1 || here.count == 1),
                              "a part of the result holds no neighbouring elements of its lines");
      what_.piece[p].first = next;
      what_.piece[p].along = walk(some, to_[p], work_.axis, to_offsets_[p]);
      next += here.count;
    }
    check(next == line.size(), "the parts hold {} of {} elements of a line", next, line.size());
  }

  void add_loop(int dimension) {
    const IndexSet& lines = set(*parts_.front(), dimension);
    LineLoop loop{lines.size(), walk(lines, from_, dimension, from_offset_), {}};
    for (std::size_t p = 0; p < to_.size(); ++p)
      loop.to.push_back(walk(lines, to_[p], dimension, to_offsets_[p]));
    loops_.push_back(std::move(loop));
  }

  /// The innermost loop is that over neighbours.
  void finish() {
    simplify(loops_);
    if (!loops_.empty()) {
      const LineLoop& inner = loops_.back();
      what_.neighbours = inner.count;
      what_.from_apart = inner.from;
      for (std::size_t p = 0; p < inner.to.size(); ++p) what_.piece[p].apart = inner.to[p];
      loops_.pop_back();
    }
    check<UnsupportedError>(loops_.size() <= LineTransform::most_loops,
                            "a transform with a batch of {} loops", loops_.size() + 1);
    what_.loops = static_cast<int>(loops_.size());
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      what_.counts[l] = loops_[l].count;
      what_.from_strides[l] = loops_[l].from;
      for (std::size_t p = 0; p < to_.size(); ++p) what_.piece[p].strides[l] = loops_[l].to[p];
    }
  }

  const TransformInto& work_;
  std::int64_t item_;
  std::vector<const Part*> parts_;
  Side from_;
  std::vector<Side> to_;  // by part
  std::int64_t from_offset_ = 0;
  std::vector<std::int64_t> to_offsets_;
  std::vector<LineLoop> loops_;
  LineTransform what_;
};

/// The share of the links in what the work is started beside; 0 for one that stores nothing there and comes
/// alone, behind all others: it has the device for itself.
double share_of_links(const Plan& plan, const TransformInto& work, const planning::PutToPeers& put) {
  const bool alone = put.staying == 1 && planning::bytes_written_to_peers(plan, work) == 0;
  return alone ? 0 : put.share;
}

bool cut_alike(const Part& a, const Part& b, int axis) {
  for (std::size_t d = 0; d < a.region.sets.size(); ++d) {
    if (static_cast<int>(d) != axis && !(a.region.sets[d] == b.region.sets[d])) return false;
  }
  return true;
}

class DeviceTransformInto final : public DeviceBoundWork {
 public:
  DeviceTransformInto(TransformInto work, const DeviceWorkBinding& binding)
      : work_(std::move(work)), device_(binding.transforms()) {
    const Dtype dtype = planning::dtype_at(binding.memory.plan, work_.from.place);
    check(is_complex(dtype), "a transform into the memory of several ranks takes complex numbers, not {}",
          name(dtype));
    const std::int64_t length = work_.from.region.sets[static_cast<std::size_t>(work_.axis)].size();
    check<UnsupportedError>(device_.has_lines_of(length, dtype == Dtype::c64),
                            "this device has no transform of {} elements that stores to peers; ask for "
                            "exchange \"copies\"",
                            length);
    std::vector<const Part*> rest;
    for (const Part& part : work_.to) {
      if (!part.region.empty()) rest.push_back(&part);
    }
    const double link_share = share_of_links(binding.memory.plan, work_, binding.put_to_peers);
    while (!rest.empty()) {
      const auto others = std::stable_partition(rest.begin(), rest.end(), [&](const Part* part) {
        return cut_alike(*part, *rest.front(), work_.axis);
      });
      lines_.emplace_back(work_, binding.memory, size_of(dtype), std::vector(rest.begin(), others),
                          link_share);
      rest.erase(rest.begin(), others);
    }
  }

  void enqueue(const AddressOf& address, const Parameters& parameters, Stream stream) override {
    for (LinesOfParts& lines : lines_)
      lines.enqueue(device_, address, work_.scaled ? parameters.scale : 1, stream);
  }

 private:
  TransformInto work_;  // of which the lines are parts
  devices::DeviceTransforms& device_;
  std::vector<LinesOfParts> lines_;
};

}  // namespace

std::unique_ptr<DeviceBoundWork> bind_device_transform_into(const TransformInto& work,
                                                            const DeviceWorkBinding& binding) {
  return std::make_unique<DeviceTransformInto>(work, binding);
}

}  // namespace partita::execution
