#include "distribution/index_set_state.hpp"

#include <limits>
#include <numeric>

namespace partita::distribution {

const IndexSetState& IndexSetState::of(const IndexSet& set) {
  static const IndexSetState nothing;
  return set.state_ ? *set.state_ : nothing;
}

IndexSet IndexSetState::make(IndexSetState state) {
  IndexSet set;
  state.before.resize(state.intervals.size());
  for (Segment& segment : state.segments) {
    segment.before = set.size_;
    segment.per_period = 0;
    for (std::size_t i = segment.begin; i < segment.end; ++i) {
      state.before[i] = segment.per_period;
      segment.per_period += state.intervals[i].length;
    }
    set.size_ += segment.per_period * segment.count;
  }
  if (set.size_ > 0) set.state_ = std::make_shared<const IndexSetState>(std::move(state));
  return set;
}

std::size_t IndexSetState::segment_above(std::int64_t index) const {
  const auto found = std::partition_point(segments.begin(), segments.end(),
                                          [&](const Segment& segment) { return segment.last <= index; });
  return static_cast<std::size_t>(found - segments.begin());
}

RunWalker::RunWalker(const IndexSetState& state, const Segment& segment, std::int64_t from)
    : state_(state), segment_(segment), interval_(segment.begin) {
  seek(from);
}

Run RunWalker::run() const {
  const Interval& interval = state_.intervals[interval_];
  const std::int64_t first = interval.first + repetition_ * segment_.period;
  return {first, first + interval.length};
}

void RunWalker::seek(std::int64_t index) {
  if (index < segment_.first) index = segment_.first;
  repetition_ = (index - segment_.first) / segment_.period;
  const std::int64_t in_first_period = index - repetition_ * segment_.period;
  const auto begin = state_.intervals.begin() + static_cast<std::ptrdiff_t>(segment_.begin);
  const auto end = state_.intervals.begin() + static_cast<std::ptrdiff_t>(segment_.end);
  const auto found = std::partition_point(begin, end, [&](const Interval& interval) {
    return interval.first + interval.length <= in_first_period;
  });
  interval_ = static_cast<std::size_t>(found - state_.intervals.begin());
  if (found == end) {
    interval_ = segment_.begin;
    ++repetition_;
  }
}

void IndexSetBuilder::append(const std::vector<Run>& pattern, std::int64_t period, std::int64_t count) {
  Segment segment;
  segment.first = pattern.front().first;
  segment.last = pattern.back().last + (count - 1) * period;
  segment.period = period;
  segment.count = count;
  segment.begin = state_.intervals.size();
  for (const Run& run : pattern) state_.intervals.push_back({run.first, run.last - run.first, period, count});
  segment.end = state_.intervals.size();
  state_.segments.push_back(segment);
}

void IndexSetBuilder::add_run(Run run) {
  if (run.first >= run.last) return;
  if (!state_.segments.empty() && state_.segments.back().last == run.first) {
    unroll_last();
    Segment& segment = state_.segments.back();
    Interval& interval = state_.intervals.back();
    interval.length = interval.period = segment.period = run.last - interval.first;
    segment.last = run.last;
    return;
  }
  append({run}, run.last - run.first, 1);
}

void IndexSetBuilder::add_periodic(const std::vector<Run>& pattern, std::int64_t period, std::int64_t count) {
  if (count <= 0 || pattern.empty()) return;
  const std::int64_t first = pattern.front().first;
  if (pattern.size() == 1 && pattern.front().last - first == period) {
    add_run({first, first + period * count});
    return;
  }
  const bool touches = !state_.segments.empty() && state_.segments.back().last == first;
  if (count > 1 && !touches) {
    append(pattern, period, count);
    return;
  }
  for (const Run& run : pattern) add_run(run);
  if (count == 1) return;
  std::vector<Run> rest = pattern;
  for (Run& run : rest) run = {run.first + period, run.last + period};
  add_periodic(rest, period, count - 1);
}

/// The last repetition of the last segment becomes separate runs, so that its last run can grow.
void IndexSetBuilder::unroll_last() {
  const Segment segment = state_.segments.back();
  if (segment.count == 1) return;
  std::vector<Run> pattern;
  for (std::size_t i = segment.begin; i < segment.end; ++i) {
    const Interval& interval = state_.intervals[i];
    pattern.push_back({interval.first, interval.first + interval.length});
  }
  state_.intervals.resize(segment.begin);
  state_.segments.pop_back();
  add_periodic(pattern, segment.period, segment.count - 1);
  const std::int64_t step = segment.period * (segment.count - 1);
  for (const Run& run : pattern) add_run({run.first + step, run.last + step});
}

/// The pattern, which begins with the first run of a repetition, as often as it fits below `upper`; then what
/// is left of one more repetition.
void IndexSetBuilder::add_repeated(std::vector<Run> pattern, std::int64_t upper, std::int64_t period) {
  const std::int64_t room = upper - pattern.back().last;
  const std::int64_t count = room < 0 ? 0 : room / period + 1;
  add_periodic(pattern, period, count);
  for (const Run& run : pattern) {
    if (upper - run.first <= count * period) break;
    const std::int64_t first = run.first + count * period;
    add_run({first, std::min(upper, run.last - run.first + first)});
  }
}

std::int64_t common_period(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  const bool overflow = __builtin_mul_overflow(a / std::gcd(a, b), b, &product);
  return overflow ? std::numeric_limits<std::int64_t>::max() : product;
}

}  // namespace partita::distribution
