// Boxes between cut points.
#include <algorithm>
#include <limits>
#include <partita/distribution.hpp>

#include "base/check.hpp"

namespace partita {
namespace {

void check_cuts(const std::vector<std::vector<std::int64_t>>& cuts) {
  check(cuts.size() <= static_cast<std::size_t>(max_dimensions), "cut points of {} dimensions: at most {}",
        cuts.size(), max_dimensions);
  int boxes = 1;
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    const std::vector<std::int64_t>& points = cuts[d];
    check(points.size() >= 2 && points.front() == 0,
          "the cut points of dimension {} need both ends of the array, the first of which is 0", d);
    check(std::is_sorted(points.begin(), points.end()), "the cut points of dimension {} decrease", d);
    const bool too_many = __builtin_mul_overflow(boxes, points.size() - 1, &boxes);
    check(!too_many, "the cut points make more than {} boxes, one per rank", std::numeric_limits<int>::max());
  }
}

}  // namespace

Box Box::from_cuts(const std::vector<std::vector<std::int64_t>>& cuts) {
  check_cuts(cuts);
  std::vector<Bounds> boxes(1);
  for (const std::vector<std::int64_t>& points : cuts) {  // the last dimension fastest
    std::vector<Bounds> finer;
    for (const Bounds& box : boxes) {
      for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        finer.push_back(box);
        finer.back().lower.push_back(points[i]);
        finer.back().upper.push_back(points[i + 1]);
      }
    }
    boxes = std::move(finer);
  }
  return Box(std::move(boxes));
}

}  // namespace partita
