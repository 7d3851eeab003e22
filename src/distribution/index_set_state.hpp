// How an index set is kept: segments that follow each other, each one pattern of runs that repeats.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/index_set.hpp>
#include <vector>

namespace partita::distribution {

/// [first, last).
struct Run {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// A pattern of runs inside one period, repeated `count` times. Segments never overlap: each ends, with its
/// last element, before the next begins. So inside a segment a step of its period moves every position by
/// `per_period`, which is what makes intersections exact.
struct Segment {
  std::int64_t first = 0;       ///< smallest index
  std::int64_t last = 0;        ///< one more than the largest index
  std::int64_t period = 0;      ///< the length where count == 1
  std::int64_t count = 0;       ///< where it is 1 the segment is a single run
  std::int64_t before = 0;      ///< elements of the set below `first`
  std::int64_t per_period = 0;  ///< elements of one repetition
  std::size_t begin = 0;        ///< its intervals are [begin, end)
  std::size_t end = 0;

  /// A run repeats with any period.
  std::int64_t least_period() const { return count == 1 ? 1 : period; }
};

struct IndexSetState {
  std::vector<Interval> intervals;
  std::vector<std::int64_t> before;  ///< per interval: elements of the same repetition below its first run
  std::vector<Segment> segments;

  static const IndexSetState& of(const IndexSet& set);
  static IndexSet make(IndexSetState state);  ///< fills in `before` everywhere

  /// The first segment that ends above `index`, or the number of segments.
  std::size_t segment_above(std::int64_t index) const;
};

/// Walks over the runs of one segment in increasing order.
class RunWalker {
 public:
  RunWalker(const IndexSetState& state, const Segment& segment, std::int64_t from);

  bool valid() const { return repetition_ < segment_.count; }
  Run run() const;
  void seek(std::int64_t index);  ///< to the first run that ends above `index`

 private:
  const IndexSetState& state_;
  const Segment& segment_;
  std::int64_t repetition_ = 0;
  std::size_t interval_ = 0;
};

/// Builds a set from runs in increasing order; adjacent runs are merged.
class IndexSetBuilder {
 public:
  void add_run(Run run);
  /// `pattern` repeated `count` times; its runs are disjoint, in increasing order and within one period.
  void add_periodic(const std::vector<Run>& pattern, std::int64_t period, std::int64_t count);
  /// The part in [lower, upper) of a set with this `period`. `runs_in(a, b)` returns its runs in [a, b) in
  /// increasing order, with adjacent ones merged; it is called for one period only.
  template <class RunsIn>
  void add_zone(std::int64_t lower, std::int64_t upper, std::int64_t period, RunsIn&& runs_in);
  IndexSet finish() { return IndexSetState::make(std::move(state_)); }

 private:
  void add_repeated(std::vector<Run> pattern, std::int64_t upper, std::int64_t period);
  void append(const std::vector<Run>& pattern, std::int64_t period, std::int64_t count);
  void unroll_last();

  IndexSetState state_;
};

template <class RunsIn>
void IndexSetBuilder::add_zone(std::int64_t lower, std::int64_t upper, std::int64_t period,
                               RunsIn&& runs_in) {
  if (upper - lower <= period) {
    for (const Run& run : runs_in(lower, upper)) add_run(run);
    return;
  }
  std::vector<Run> pattern = runs_in(lower, lower + period);
  if (pattern.empty()) return;
  if (pattern.front().first == lower && pattern.back().last == lower + period) {
    // One run crosses the border between two repetitions: begin the pattern after its first part.
    const Run head = pattern.front();
    add_run(pattern.size() == 1 ? Run{lower, upper} : head);
    if (pattern.size() == 1) return;
    pattern.erase(pattern.begin());
    pattern.back().last += head.last - head.first;
  }
  add_repeated(std::move(pattern), upper, period);
}

/// Least common multiple of positive numbers; the largest integer where it would overflow.
std::int64_t common_period(std::int64_t a, std::int64_t b);

}  // namespace partita::distribution
