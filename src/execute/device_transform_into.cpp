// TransformInto on a device: one launch for all lines whose results are cut alike, along one axis or two.
#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "execute/device_bound_work.hpp"
#include "execute/loops.hpp"
#include "execute/lower.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using kernels::cuda::LineTransform;
static_assert(LineTransform::longest == TransformInto::longest);
static_assert(kernels::cuda::PlaneTransform::longest == TransformInto::longest_of_first);

/// A loop over lines; strides in elements, of what is read and by piece.
struct LineLoop {
  int dimension = 0;
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

void put_neighbours(LineTransform& what, const LineLoop& loop) {
  what.neighbours = loop.count;
  what.from_apart = loop.from;
  for (std::size_t p = 0; p < loop.to.size(); ++p) what.piece[p].apart = loop.to[p];
}

void put_loops(LineTransform& what, const std::vector<LineLoop>& loops) {
  what.loops = static_cast<int>(loops.size());
  for (std::size_t l = 0; l < loops.size(); ++l) {
    what.counts[l] = loops[l].count;
    what.from_strides[l] = loops[l].from;
    for (std::size_t p = 0; p < loops[l].to.size(); ++p) what.piece[p].strides[l] = loops[l].to[p];
  }
}

/// Parts that are cut alike along all dimensions but that of the lines.
class LinesOfParts {
 public:
  LinesOfParts(const TransformInto& work, const WorkBinding& binding, std::int64_t item,
               std::vector<const Part*> parts)
      : work_(work), item_(item), parts_(std::move(parts)) {
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
  }

  /// By dimension, but for that of the lines.
  const std::vector<LineLoop>& loops() const { return loops_; }

  /// Where they are now; loops and neighbours are not in it.
  LineTransform placed(const AddressOf& address, double scale) const {
    LineTransform what = what_;
    what.from = address(work_.from.place) + from_offset_;
    for (std::size_t p = 0; p < to_.size(); ++p)
      what.piece[p].to = address(parts_[p]->place) + to_offsets_[p];
    what.scale = scale;
    return what;
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
    LineLoop loop{dimension, lines.size(), walk(lines, from_, dimension, from_offset_), {}};
    for (std::size_t p = 0; p < to_.size(); ++p)
      loop.to.push_back(walk(lines, to_[p], dimension, to_offsets_[p]));
    loops_.push_back(std::move(loop));
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

void check_loops(const std::vector<LineLoop>& loops) {
  check<UnsupportedError>(loops.size() <= LineTransform::most_loops, "a transform with a batch of {} loops",
                          loops.size() + 1);
}

/// All of them in one launch. The innermost loop is that over neighbours.
class LinesLaunch {
 public:
  LinesLaunch(LinesOfParts lines, double link_share)
      : lines_(std::move(lines)), link_share_(link_share), loops_(lines_.loops()) {
    simplify(loops_);
    if (!loops_.empty()) {
      neighbours_ = loops_.back();
      loops_.pop_back();
    }
    check_loops(loops_);
  }

  void enqueue(devices::DeviceTransforms& device, const AddressOf& address, double scale,
               Stream stream) const {
    LineTransform what = lines_.placed(address, scale);
    what.link_share = link_share_;
    if (neighbours_) put_neighbours(what, *neighbours_);
    put_loops(what, loops_);
    device.transform_lines(what, stream);
  }

 private:
  LinesOfParts lines_;
  double link_share_;
  std::vector<LineLoop> loops_;
  std::optional<LineLoop> neighbours_;
};

/// Lines along one axis and then along another, in one launch: planes of both, in loops over the other
/// dimensions.
class PlanesLaunch {
 public:
  PlanesLaunch(LinesOfParts rows, int row_axis, LinesOfParts columns, int column_axis)
      : rows_(std::move(rows)), columns_(std::move(columns)) {
    std::vector<LineLoop> both;  // those of the columns, with what is read and written by rows behind
    for (const LineLoop& of_rows : rows_.loops()) {
      if (of_rows.dimension == column_axis) side_by_side_rows_ = of_rows;
    }
    for (const LineLoop& of_columns : columns_.loops()) {
      if (of_columns.dimension == row_axis) {
        side_by_side_columns_ = of_columns;
        continue;
      }
      const auto& of_rows = *std::ranges::find(rows_.loops(), of_columns.dimension, &LineLoop::dimension);
      check(of_rows.count == of_columns.count, "{} rows' planes and {} columns' planes along dimension {}",
            of_rows.count, of_columns.count, of_rows.dimension);
      both.push_back(of_columns);
      both.back().to.insert(both.back().to.end(), {of_rows.from, of_rows.to.front()});
      planes_ *= of_columns.count;
    }
    simplify(both);
    check_loops(both);
    for (LineLoop& loop : both) {
      const std::int64_t to = loop.to.back(), from = loop.to[loop.to.size() - 2];
      loop.to.resize(loop.to.size() - 2);
      row_loops_.push_back({loop.dimension, loop.count, from, {to}});
      column_loops_.push_back(std::move(loop));
    }
  }

  std::int64_t planes() const { return planes_; }

  void enqueue(devices::DeviceTransforms& device, const AddressOf& address, const Place& counters,
               double scale, Stream stream) const {
    kernels::cuda::PlaneTransform what{rows_.placed(address, 1), columns_.placed(address, scale), nullptr};
    put_neighbours(what.rows, side_by_side_rows_);
    put_loops(what.rows, row_loops_);
    put_neighbours(what.columns, side_by_side_columns_);
    put_loops(what.columns, column_loops_);
    what.counters = reinterpret_cast<std::uint32_t*>(address(counters) + counters.offset);
    device.transform_planes(what, stream);
  }

 private:
  LinesOfParts rows_, columns_;
  LineLoop side_by_side_rows_, side_by_side_columns_;
  std::vector<LineLoop> row_loops_, column_loops_;
  std::int64_t planes_ = 1;
};

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
