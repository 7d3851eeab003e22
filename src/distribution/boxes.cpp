#include "distribution/boxes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/check.hpp"

namespace partita::distribution {
namespace {

using Boxes = std::span<const Box::Bounds>;

std::string text(const Extents& index) {
  return fmt::format("({})", fmt::join(index.begin(), index.end(), ","));
}

const Box::Bounds& at(Boxes boxes, int rank) {
  return boxes[static_cast<std::size_t>(rank)];
}

void refuse_outside(const Box::Bounds& box, std::size_t rank, const Shape& shape) {
  check(box.lower.size() == shape.size() && box.upper.size() == shape.size(),
        "the box of rank {} has corners of {} and {} dimensions; the array {} has {}", rank, box.lower.size(),
        box.upper.size(), to_string(shape), shape.size());
  for (int i = 0; i < shape.size(); ++i) {
    check(box.lower[i] <= box.upper[i], "the box of rank {} is empty in reverse: {} to {}", rank,
          text(box.lower), text(box.upper));
    check(box.lower[i] >= 0 && box.upper[i] <= shape[i], "the box of rank {}, {} to {}, exceeds the array {}",
          rank, text(box.lower), text(box.upper), to_string(shape));
  }
}

std::int64_t volume_from(const Box::Bounds& box, int dimension) {
  std::int64_t product = 1;
  for (int i = dimension; i < box.lower.size(); ++i) product *= box.upper[i] - box.lower[i];
  return product;
}

void refuse_overlap(Boxes boxes, int a, int b) {
  if (a > b) std::swap(a, b);
  Extents corner = at(boxes, a).lower;
  for (int i = 0; i < corner.size(); ++i) {
    corner[i] = std::max(corner[i], at(boxes, b).lower[i]);
    if (corner[i] >= std::min(at(boxes, a).upper[i], at(boxes, b).upper[i])) return;
  }
  check(false, "the boxes of ranks {} and {} overlap at index {}", a, b, text(corner));
}

/// The axis along which the boxes begin at the most places: there the fewest are active at a time.
int sweep_axis(Boxes boxes, const std::vector<int>& ranks, int dimensions) {
  int best = 0;
  std::size_t most = 0;
  for (int axis = 0; axis < dimensions; ++axis) {
    std::set<std::int64_t> begins;
    for (const int rank : ranks) begins.insert(at(boxes, rank).lower[axis]);
    if (begins.size() > most) {
      most = begins.size();
      best = axis;
    }
  }
  return best;
}

void refuse_overlaps(Boxes boxes, std::vector<int> ranks, int dimensions) {
  if (dimensions == 0) {  // every box of a scalar is the scalar
    check(ranks.size() <= 1, "the boxes of ranks 0 and 1 overlap: both hold the scalar");
    return;
  }
  const int axis = sweep_axis(boxes, ranks, dimensions);
  std::sort(ranks.begin(), ranks.end(),
            [&](int a, int b) { return at(boxes, a).lower[axis] < at(boxes, b).lower[axis]; });
  std::vector<int> active;
  for (const int rank : ranks) {
    const std::int64_t begin = at(boxes, rank).lower[axis];
    std::erase_if(active, [&](int other) { return at(boxes, other).upper[axis] <= begin; });
    for (const int other : active) refuse_overlap(boxes, other, rank);
    active.push_back(rank);
  }
}

/// The smallest index that no box of `ranks` holds, looked for from `dimension` on; they do not overlap, and
/// hold fewer elements than the array. Along one dimension, the first place where what the boxes hold of the
/// others does not fill them.
void find_hole(Boxes boxes, const std::vector<int>& ranks, const Shape& shape, int dimension, Index& hole) {
  if (dimension == shape.size()) return;
  std::int64_t full = 1;
  for (int i = dimension + 1; i < shape.size(); ++i) full *= shape[i];
  std::vector<std::pair<std::int64_t, std::int64_t>> changes{{0, 0}};
  for (const int rank : ranks) {
    const Box::Bounds& box = at(boxes, rank);
    changes.emplace_back(box.lower[dimension], volume_from(box, dimension + 1));
    changes.emplace_back(box.upper[dimension], -volume_from(box, dimension + 1));
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t held = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    held += changes[i].second;
    const bool last_here = i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
    if (!last_here || held == full) continue;
    const std::int64_t place = hole[dimension] = changes[i].first;
    std::vector<int> here;
    std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(here), [&](int rank) {
      return at(boxes, rank).lower[dimension] <= place && place < at(boxes, rank).upper[dimension];
    });
    find_hole(boxes, here, shape, dimension + 1, hole);
    return;
  }
}

}  // namespace

bool is_empty(const Box::Bounds& box) {
  for (int i = 0; i < box.lower.size(); ++i) {
    if (box.lower[i] >= box.upper[i]) return true;
  }
  return false;
}

void refuse_no_tiling(Boxes boxes, const Shape& shape) {
  std::vector<int> ranks;  // of the boxes that hold anything
  std::int64_t held = 0;
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    refuse_outside(boxes[rank], rank, shape);
    if (!is_empty(boxes[rank])) ranks.push_back(static_cast<int>(rank));
  }
  refuse_overlaps(boxes, ranks, shape.size());
  for (const int rank : ranks) held += volume_from(at(boxes, rank), 0);
  if (held == volume(shape)) return;
  Index hole = Extents::filled(shape.size(), 0);
  find_hole(boxes, ranks, shape, 0, hole);
  check(false, "the boxes of {} ranks do not cover {} elements of the array {}: no rank owns index {}",
        boxes.size(), volume(shape) - held, to_string(shape), text(hole));
}

}  // namespace partita::distribution
