#include "execute/works/device_lines.hpp"

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

LinesOfParts::LinesOfParts(const TransformInto& work, const WorkBinding& binding,
                           std::vector<const Part*> parts)
    : work_(work), parts_(std::move(parts)), from_(side(work.from, binding)) {
  std::ranges::sort(parts_, {}, [&](const Part* part) { return set_of(*part, work.axis).front(); });
  const Part& first = *parts_.front();
  for (const Part* part : parts_) to_.push_back(side(*part, binding));
  check<UnsupportedError>(parts_.size() <= kernels::cuda::LineTransform::most_pieces,
                          "lines that are cut into {} pieces", parts_.size());
  add_lines();
  for (int d = 0; d < static_cast<int>(first.region.sets.size()); ++d) {
    if (d != work.axis) add_loop(d);
  }
}

void LinesOfParts::place(kernels::cuda::LineTransform& what, const AddressOf& address, double scale) const {
  what.from = address(work_.from.place) + from_.offset;
  for (std::size_t p = 0; p < to_.size(); ++p) what.piece[p].to = address(parts_[p]->place) + to_[p].offset;
  what.scale = scale;
}

LinesOfParts::LineSide LinesOfParts::side(const Part& part, const WorkBinding& binding) {
  const Place& place = part.place;
  const std::int64_t item = size_of(planning::dtype_at(binding.plan, place));
  Side where = side_of(binding.plan, place, part.region,
                       binding.strides[static_cast<std::size_t>(place.buffer)], item);
  const std::int64_t offset = where.byte_offset;
  return {std::move(where), item, offset};
}

/// The distance of elements along a dimension, in elements. The offset moves to the first.
std::int64_t LinesOfParts::walk(const IndexSet& elements, LineSide& side, int dimension) {
  const std::int64_t stride = side.where.byte_strides[dimension];
  const Progression there =
      progression_of({elements, side.where.owned.sets[static_cast<std::size_t>(dimension)]});
  side.offset += there.first * stride;
  return there.step * stride / side.item;
}

void LinesOfParts::add_lines() {
  const IndexSet& line = set_of(work_.from, work_.axis);
  what_.single = to_.front().item == size_of(Dtype::c64);
  what_.backward = work_.kind == TransformKind::complex_backward;
  what_.of_reals = work_.kind == TransformKind::real_to_complex;
  what_.length = line.size();
  what_.from_along = walk(line, from_, work_.axis);
  what_.pieces = static_cast<int>(parts_.size());
  what_.over_links = std::ranges::any_of(
      parts_, [&](const Part* part) { return part->place.rank != work_.from.place.rank; });
  const IndexSet results = what_.of_reals ? IndexSet::range(0, line.size() / 2 + 1) : line;
  std::int64_t next = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const IndexSet& some = set_of(*parts_[p], work_.axis);
    const Progression here = progression_of({some, results});
    check<UnsupportedError>(here.first == next && (here.step == 1 || here.count == 1),
                            "a part of the result holds no neighbouring elements of its lines");
    what_.piece[p].first = next;
    what_.piece[p].along = walk(some, to_[p], work_.axis);
    next += here.count;
  }
  check(next == results.size(), "the parts hold {} of {} elements of a line", next, results.size());
}

void LinesOfParts::add_loop(int dimension) {
  const IndexSet& lines = set_of(*parts_.front(), dimension);
  LineLoop loop{dimension, lines.size(), walk(lines, from_, dimension), {}};
  for (LineSide& to : to_) loop.to.push_back(walk(lines, to, dimension));
  loops_.push_back(std::move(loop));
}

}  // namespace partita::execution
