// Walking over several parts together, along runs of one dimension.
#pragma once

#include <algorithm>
#include <vector>

#include "execute/axis_runs.hpp"

namespace partita::execution {

/// A stretch of the innermost dimension: its element i is in part x at offset[x] + i * step[x], in elements
/// from the part's base.
struct PartStretch {
  std::int64_t count = 0;
  std::array<std::int64_t, max_parts> offset{};
  std::array<std::int64_t, max_parts> step{};
  /// The place in the region along each dimension; along the innermost, of the first element.
  Index at;
};

/// All elements of regions of the same extents (a part without a dimension is the same all along it).
class PartWalk {
 public:
  /// The walk's innermost dimension is the one along which the part `leader` is closest together.
  /// axes[d][x]: dimension d of part x.
  PartWalk(const std::vector<std::vector<PartAxis>>& axes, const Extents& extents, std::size_t leader)
      : extents_(extents) {
    for (int d = 0; d < extents.size(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      runs_.push_back(axis_runs(axes[at], extents[d]));
      const auto stride = [&](int dimension) {
        return std::abs(axes[static_cast<std::size_t>(dimension)][leader].stride);
      };
      if (inner_ < 0 || (extents[d] > 1 && (extents[inner_] <= 1 || stride(d) <= stride(inner_)))) inner_ = d;
    }
  }

  int inner() const { return inner_; }

  /// Calls body(stretch) for stretches of at most `most` elements, always in the same order.
  template <class Body>
  void run(std::int64_t most, const Body& body) const {
    if (std::ranges::any_of(extents_, [](std::int64_t extent) { return extent == 0; })) return;
    PartStretch stretch;
    stretch.at = Extents::filled(extents_.size(), 0);
    descend(0, stretch, most, body);
  }

 private:
  template <class Body>
  void descend(int d, const PartStretch& base, std::int64_t most, const Body& body) const {
    if (d == inner_) return descend(d + 1, base, most, body);
    if (d >= extents_.size()) return along_inner(base, most, body);
    for (const AxisRun& run : runs_[static_cast<std::size_t>(d)]) {
      PartStretch next = base;
      for (std::size_t x = 0; x < max_parts; ++x) next.offset[x] += run.offset[x];
      for (std::int64_t i = 0; i < run.count; ++i) {
        next.at[d] = run.first + i;
        descend(d + 1, next, most, body);
        for (std::size_t x = 0; x < max_parts; ++x) next.offset[x] += run.step[x];
      }
    }
  }

  template <class Body>
  void along_inner(const PartStretch& base, std::int64_t most, const Body& body) const {
    if (inner_ < 0) {
      PartStretch one = base;
      one.count = 1;
      return body(one);
    }
    for (const AxisRun& run : runs_[static_cast<std::size_t>(inner_)]) {
      for (std::int64_t first = 0; first < run.count; first += most) {
        PartStretch stretch = base;
        stretch.count = std::min(most, run.count - first);
        stretch.step = run.step;
        stretch.at[inner_] = run.first + first;
        for (std::size_t x = 0; x < max_parts; ++x) {
          stretch.offset[x] += run.offset[x] + first * run.step[x];
        }
        body(stretch);
      }
    }
  }

  Extents extents_;
  std::vector<std::vector<AxisRun>> runs_;
  int inner_ = -1;
};

}  // namespace partita::execution
