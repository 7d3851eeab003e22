#include "array/overlap.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <vector>

namespace partita::arrays {
namespace {

bool has_elements(const View& view) {
  return view.data != nullptr && volume(view.extents) != 0;
}

int dimensions_of(const View& view) {
  return std::min(view.extents.size(), view.strides.size());
}

std::int64_t step_of(const View& view, int dimension) {
  return view.strides[dimension] * size_of(view.dtype);
}

/// The bytes from the lowest element's first one to behind the highest element.
struct Span {
  std::intptr_t first = 0;
  std::intptr_t last = 0;
};

Span span_of(const View& view) {
  const auto begin = reinterpret_cast<std::intptr_t>(view.data);
  Span span{begin, begin};
  for (int d = 0; d < dimensions_of(view); ++d) {
    const std::int64_t reach = (view.extents[d] - 1) * step_of(view, d);
    (reach < 0 ? span.first : span.last) += reach;
  }
  span.last += size_of(view.dtype);
  return span;
}

/// Which distances there are from elements of one view to elements of another: a first one, and multiples of
/// steps beyond it.
class Distances {
 public:
  Distances(const View& from, const View& to)
      : least_(span_of(to).first - (span_of(from).last - size_of(from.dtype))) {
    std::map<std::int64_t, std::int64_t, std::greater<>> most;  // of each step, how often it may be taken
    for (const View* view : {&from, &to}) {
      for (int d = 0; d < dimensions_of(*view); ++d)
        most[std::abs(step_of(*view, d))] += view->extents[d] - 1;
    }
    for (const auto& [bytes, times] : most) {
      if (bytes > 0 && times > 0) steps_.push_back({bytes, times, 0});
    }
    for (std::size_t i = steps_.size(); i-- > 0;) {
      steps_[i].reach = steps_[i].bytes * steps_[i].most + (i + 1 < steps_.size() ? steps_[i + 1].reach : 0);
    }
  }

  /// Whether one of them is in the range; also true if finding out takes long.
  bool any_within(std::int64_t low, std::int64_t high) { return search(0, low - least_, high - least_); }

 private:
  struct Step {
    std::int64_t bytes = 0;
    std::int64_t most = 0;
    std::int64_t reach = 0;  ///< of this step and all shorter ones
  };

  // Of parts of one array a step or two of each kind can lead there.
  bool search(std::size_t place, std::int64_t low, std::int64_t high) {
    if (--tries_ < 0) return true;
    if (place == steps_.size()) return low <= 0 && 0 <= high;
    if (high < 0 || low > steps_[place].reach) return false;
    const Step& step = steps_[place];
    const std::int64_t shorter = step.reach - step.bytes * step.most;
    const std::int64_t least = std::max<std::int64_t>(0, (low - shorter + step.bytes - 1) / step.bytes);
    for (std::int64_t times = least; times <= std::min(step.most, high / step.bytes); ++times) {
      if (search(place + 1, low - times * step.bytes, high - times * step.bytes)) return true;
    }
    return false;
  }

  std::int64_t least_;
  std::vector<Step> steps_;  // longest first
  int tries_ = 1000;
};

/// Ways from an element of a view to another one at the same place: steps along its dimensions, forwards or
/// backwards, that add up to nothing.
class Returns {
 public:
  explicit Returns(const View& view) {
    for (int d = 0; d < dimensions_of(view); ++d) {
      const std::int64_t stride = std::clamp(view.strides[d], -farthest, farthest);
      if (view.extents[d] > 1) steps_.push_back({std::abs(stride), view.extents[d] - 1, 0});
    }
    std::ranges::sort(steps_, std::greater<>(), &Step::length);
    std::int64_t reach = 0;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      Step& step = steps_[i];
      step.shorter = reach;
      std::int64_t all = 0;
      const bool beyond = __builtin_mul_overflow(step.length, step.most, &all);
      reach = beyond ? farthest : std::min(farthest, reach + std::min(farthest, all));
    }
  }

  bool any() { return search(0, 0, false); }

 private:
  static constexpr std::int64_t farthest = std::numeric_limits<std::int64_t>::max() / 4;

  struct Step {
    std::int64_t length = 0;
    std::int64_t most = 0;
    std::int64_t shorter = 0;  ///< the reach of all shorter steps
  };

  // Where each step is longer than what all shorter ones reach, there is one way to try: to stay.
  bool search(std::size_t place, std::int64_t distance, bool moved) {
    if (--tries_ < 0) return true;
    if (place == steps_.size()) return moved && distance == 0;
    const Step& step = steps_[place];
    if (step.length == 0) return true;
    const std::int64_t least = moved ? std::max(-step.most, (-step.shorter - distance) / step.length) : 0;
    const std::int64_t most = std::min(step.most, (step.shorter - distance) / step.length);
    for (std::int64_t times = least; times <= most; ++times) {
      if (search(place + 1, distance + times * step.length, moved || times != 0)) return true;
    }
    return false;
  }

  std::vector<Step> steps_;  // longest first
  int tries_ = 1000;
};

/// Each stride is longer than what all dimensions behind it reach, as of rows one behind the other: most are.
bool is_nested(const View& view) {
  std::int64_t reach = 0;
  for (int d = dimensions_of(view); d-- > 0;) {
    const std::int64_t stride = std::abs(view.strides[d]);
    std::int64_t all = 0;
    if (view.extents[d] == 1) continue;
    if (stride <= reach || __builtin_mul_overflow(stride, view.extents[d] - 1, &all) ||
        __builtin_add_overflow(reach, all, &reach))
      return false;
  }
  return true;
}

}  // namespace

bool spans_meet(const View& a, const View& b) {
  if (!has_elements(a) || !has_elements(b)) return false;
  const Span one = span_of(a);
  const Span two = span_of(b);
  return std::max(one.first, two.first) < std::min(one.last, two.last);
}

bool overlap(const View& a, const View& b) {
  return spans_meet(a, b) && Distances(a, b).any_within(1 - size_of(b.dtype), size_of(a.dtype) - 1);
}

bool elements_meet(const View& view) {
  return volume(view.extents) != 0 && !is_nested(view) && Returns(view).any();
}

}  // namespace partita::arrays
