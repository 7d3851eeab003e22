#include "execute/device_lines.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "execute/loops.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

const IndexSet& set_of(const Part& part, int dimension) {
  return part.region.sets[static_cast<std::size_t>(dimension)];
}

}  // namespace

LinesOfParts::LinesOfParts(const TransformInto& work, const WorkBinding& binding, std::int64_t item,
                           std::vector<const Part*> parts)
    : work_(work), item_(item), parts_(std::move(parts)) {
  std::ranges::sort(parts_, {}, [&](const Part* part) { return set_of(*part, work.axis).front(); });
  const Part& first = *parts_.front();
  from_ = side(work.from.place, work.from.region, binding);
  for (const Part* part : parts_) to_.push_back(side(part->place, part->region, binding));
  check<UnsupportedError>(parts_.size() <= kernels::cuda::LineTransform::most_pieces,
                          "lines that are cut into {} pieces", parts_.size());
  from_offset_ = from_.byte_offset;
  for (const Side& one : to_) to_offsets_.push_back(one.byte_offset);
  add_lines();
  for (int d = 0; d < static_cast<int>(first.region.sets.size()); ++d) {
    if (d != work.axis) add_loop(d);
  }
}

void LinesOfParts::place(kernels::cuda::LineTransform& what, const AddressOf& address, double scale) const {
  what.from = address(work_.from.place) + from_offset_;
  for (std::size_t p = 0; p < to_.size(); ++p) what.piece[p].to = address(parts_[p]->place) + to_offsets_[p];
  what.scale = scale;
}

Side LinesOfParts::side(const Place& place, const Region& region, const WorkBinding& binding) const {
  return side_of(binding.plan, place, region, binding.strides[static_cast<std::size_t>(place.buffer)], item_);
}

/// Where elements lie along a dimension: their distance, in elements. The offset goes on to the first.
std::int64_t LinesOfParts::walk(const IndexSet& elements, const Side& side, int dimension,
                                std::int64_t& offset) const {
  const Progression there = progression_of({elements, side.owned.sets[static_cast<std::size_t>(dimension)]});
  offset += there.first * side.byte_strides[dimension];
  return there.step * side.byte_strides[dimension] / item_;
}

void LinesOfParts::add_lines() {
  const IndexSet& line = set_of(work_.from, work_.axis);
  what_.single = item_ == size_of(Dtype::c64);
  what_.backward = work_.kind == TransformKind::complex_backward;
  what_.length = line.size();
  what_.from_along = walk(line, from_, work_.axis, from_offset_);
  what_.pieces = static_cast<int>(parts_.size());
  what_.over_links = std::ranges::any_of(
      parts_, [&](const Part* part) { return part->place.rank != work_.from.place.rank; });
  std::int64_t next = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const IndexSet& some = set_of(*parts_[p], work_.axis);
    const Progression here = progression_of({some, line});
    check<UnsupportedError>(here.first == next && (here.step == 1 || here.count == 1),
                            "a part of the result holds no neighbouring elements of its lines");
    what_.piece[p].first = next;
    what_.piece[p].along = walk(some, to_[p], work_.axis, to_offsets_[p]);
    next += here.count;
  }
  check(next == line.size(), "the parts hold {} of {} elements of a line", next, line.size());
}

void LinesOfParts::add_loop(int dimension) {
  const IndexSet& lines = set_of(*parts_.front(), dimension);
  LineLoop loop{dimension, lines.size(), walk(lines, from_, dimension, from_offset_), {}};
  for (std::size_t p = 0; p < to_.size(); ++p)
    loop.to.push_back(walk(lines, to_[p], dimension, to_offsets_[p]));
  loops_.push_back(std::move(loop));
}

}  // namespace partita::execution
