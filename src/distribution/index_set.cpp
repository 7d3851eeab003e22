#include <numeric>
#include <partita/index_set.hpp>
#include <utility>

#include "base/check.hpp"
#include "distribution/index_set_state.hpp"

namespace partita {

using distribution::IndexSetBuilder;
using distribution::IndexSetState;
using distribution::Run;
using distribution::RunWalker;
using distribution::Segment;

IndexSet IndexSet::range(std::int64_t first, std::int64_t last) {
  if (last <= first) return {};
  check(first >= 0, "an index set has no negative indices, but its range begins at {}", first);
  IndexSetBuilder builder;
  builder.add_run({first, last});
  return builder.finish();
}

IndexSet IndexSet::cyclic(std::int64_t first, std::int64_t length, std::int64_t period, std::int64_t extent) {
  check(first >= 0, "an index set has no negative indices, but its first block begins at {}", first);
  check(length >= 0 && period >= length && period > 0, "blocks of {} do not fit a period of {}", length,
        period);
  if (extent <= first || length == 0) return {};
  if (length == period) return range(first, extent);
  const std::int64_t room = extent - first;
  const std::int64_t whole = room < length ? 0 : (room - length) / period + 1;
  IndexSetBuilder builder;
  builder.add_periodic({{first, whole == 0 ? first : first + length}}, period, whole);
  if (room > whole * period) builder.add_run({first + whole * period, extent});
  return builder.finish();
}

std::span<const Interval> IndexSet::intervals() const {
  return IndexSetState::of(*this).intervals;
}

std::int64_t IndexSet::front() const {
  check(!empty(), "an empty index set has no smallest index");
  return state_->segments.front().first;
}

std::int64_t IndexSet::back() const {
  check(!empty(), "an empty index set has no largest index");
  return state_->segments.back().last - 1;
}

std::int64_t IndexSet::position(std::int64_t index) const {
  const IndexSetState& state = IndexSetState::of(*this);
  const std::size_t i = state.segment_above(index);
  if (i == state.segments.size()) return size_;
  const Segment& segment = state.segments[i];
  if (index <= segment.first) return segment.before;
  const std::int64_t repetition = (index - segment.first) / segment.period;
  const std::int64_t in_first_period = index - repetition * segment.period;
  const auto begin = state.intervals.begin() + static_cast<std::ptrdiff_t>(segment.begin);
  const auto end = state.intervals.begin() + static_cast<std::ptrdiff_t>(segment.end);
  const auto above = std::partition_point(
      begin, end, [&](const Interval& interval) { return interval.first <= in_first_period; });
  const auto last = static_cast<std::size_t>(above - state.intervals.begin()) - 1;
  const Interval& interval = state.intervals[last];
  return segment.before + repetition * segment.per_period + state.before[last] +
         std::min(interval.length, in_first_period - interval.first);
}

bool IndexSet::is_range() const {
  return empty() || back() - front() + 1 == size_;
}

bool IndexSet::contains(std::int64_t index) const {
  const IndexSetState& state = IndexSetState::of(*this);
  const std::size_t i = state.segment_above(index);
  if (i == state.segments.size() || index < state.segments[i].first) return false;
  return RunWalker(state, state.segments[i], index).run().first <= index;
}

std::int64_t IndexSet::at(std::int64_t position) const {
  check(position >= 0 && position < size_, "position {} in an index set of {} elements", position, size_);
  const auto& segments = state_->segments;
  const auto segment = std::prev(std::partition_point(
      segments.begin(), segments.end(), [&](const Segment& s) { return s.before <= position; }));
  const std::int64_t repetition = (position - segment->before) / segment->per_period;
  const std::int64_t rest = (position - segment->before) % segment->per_period;
  const auto begin = state_->before.begin() + static_cast<std::ptrdiff_t>(segment->begin);
  const auto end = state_->before.begin() + static_cast<std::ptrdiff_t>(segment->end);
  const auto interval = std::prev(std::upper_bound(begin, end, rest));
  const auto i = static_cast<std::size_t>(interval - state_->before.begin());
  return state_->intervals[i].first + repetition * segment->period + rest - *interval;
}

IndexSet IndexSet::shifted(std::int64_t offset) const {
  if (empty() || offset == 0) return *this;
  std::int64_t end = 0;
  check(!__builtin_add_overflow(back(), offset, &end), "an index set shifted by {} exceeds 2^63 - 1", offset);
  if (front() + offset < 0) {
    return end < 0 ? IndexSet() : intersect(*this, range(-offset, back() + 1)).shifted(offset);
  }
  IndexSetState moved = *state_;
  for (Interval& interval : moved.intervals) interval.first += offset;
  for (Segment& segment : moved.segments) {
    segment.first += offset;
    segment.last += offset;
  }
  return IndexSetState::make(std::move(moved));
}

namespace {

// --- where the blocks of two periodic families meet, found by congruences

/// The blocks [first + i * period, first + i * period + length), over all integers i.
struct Family {
  std::int64_t first = 0;
  std::int64_t length = 0;
  std::int64_t period = 0;
};

__extension__ using Wide = __int128;  // products of two indices

template <class Integer>
Integer floor_modulo(Integer value, Integer modulus) {
  const Integer rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/// x with value * x = 1 modulo `modulus`, for coprime arguments (extended Euclid).
std::int64_t inverse(std::int64_t value, std::int64_t modulus) {
  std::int64_t rest = modulus;
  std::int64_t next_rest = value % modulus;
  std::int64_t factor = 0;
  std::int64_t next_factor = 1;
  while (next_rest != 0) {
    const std::int64_t quotient = rest / next_rest;
    rest = std::exchange(next_rest, rest - quotient * next_rest);
    factor = std::exchange(next_factor, factor - quotient * next_factor);
  }
  return floor_modulo(factor, modulus);
}

/// The number of d that `meeting_runs` tries.
std::int64_t meeting_offsets(const Family& a, const Family& b) {
  return (a.length + b.length) / std::gcd(a.period, b.period) + 1;
}

/// The common runs of the two in [from, to), increasing. A block of b begins d after one of a, where d is
/// congruent to b.first - a.first modulo the greatest common divisor of the periods; each such d at which
/// blocks meet gives one block of b in every period of a / gcd (Chinese remainder theorem). Cost: the number
/// of those d, and the runs found.
std::vector<Run> meeting_runs(const Family& a, const Family& b, std::int64_t from, std::int64_t to) {
  const std::int64_t divisor = std::gcd(a.period, b.period);
  const std::int64_t turns = a.period / divisor;  // blocks of b until the two stand the same way again
  const std::int64_t inverse_of_b = inverse(b.period / divisor, turns);
  const std::int64_t difference = b.first - a.first;
  std::vector<Run> runs;
  // from the smallest d above -b.length
  std::int64_t d = 1 - b.length + floor_modulo(difference - (1 - b.length), divisor);
  for (; d < a.length; d += divisor) {
    const std::int64_t begin = std::max<std::int64_t>(0, -d);  // of the common run, in the block of b
    const std::int64_t end = std::min(b.length, a.length - d);
    // j * b.period = d - difference modulo a.period
    const std::int64_t residue =
        static_cast<std::int64_t>(floor_modulo(Wide{(d - difference) / divisor} * inverse_of_b, Wide{turns}));
    const std::int64_t above = from - b.first - end;  // the run of block j ends above `from`
    const std::int64_t least = (above - floor_modulo(above, b.period)) / b.period + 1;
    Wide block = Wide{b.first} + (Wide{least} + floor_modulo(residue - least, turns)) * b.period;
    for (; block + begin < to; block += Wide{turns} * b.period) {
      runs.push_back({std::max(from, static_cast<std::int64_t>(block + begin)),
                      static_cast<std::int64_t>(std::min(Wide{to}, block + end))});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Run& x, const Run& y) { return x.first < y.first; });
  return runs;
}

// --- segments

/// The common runs of two segments in [from, upper): two walkers, each jumping to where the other is.
std::vector<Run> walk_together(RunWalker a, RunWalker b, std::int64_t from, std::int64_t upper) {
  std::vector<Run> runs;
  while (a.valid() && b.valid() && std::max(a.run().first, b.run().first) < upper) {
    const Run one = a.run();
    const Run two = b.run();
    const Run both{std::max({one.first, two.first, from}), std::min({one.last, two.last, upper})};
    if (both.first < both.last) runs.push_back(both);
    if (one.last <= two.last) {
      a.seek(std::max(one.last, two.first));
    } else {
      b.seek(std::max(two.last, one.first));
    }
  }
  return runs;
}

/// A segment and the set that it belongs to.
struct Part {
  const IndexSetState& state;
  const Segment& segment;

  bool is_family() const { return segment.count > 1 && segment.end - segment.begin == 1; }
  Family family() const { return {segment.first, segment.per_period, segment.period}; }
};

std::vector<Run> common_runs(const Part& a, const Part& b, std::int64_t from, std::int64_t to) {
  if (a.is_family() && b.is_family()) {
    const std::int64_t blocks = (to - from) / std::max(a.segment.period, b.segment.period);
    if (meeting_offsets(a.family(), b.family()) < blocks / 4)
      return meeting_runs(a.family(), b.family(), from, to);
  }
  return walk_together(RunWalker(a.state, a.segment, from), RunWalker(b.state, b.segment, from), from, to);
}

}  // namespace

IndexSet intersect(const IndexSet& a, const IndexSet& b) {
  const IndexSetState& in_a = IndexSetState::of(a);
  const IndexSetState& in_b = IndexSetState::of(b);
  IndexSetBuilder builder;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < in_a.segments.size() && j < in_b.segments.size()) {
    const Segment& one = in_a.segments[i];
    const Segment& two = in_b.segments[j];
    const std::int64_t lower = std::max(one.first, two.first);
    const std::int64_t upper = std::min(one.last, two.last);
    if (lower >= upper) {  // they do not meet: go on to the first segment that reaches the other's begin
      i = one.last <= lower ? in_a.segment_above(lower) : i;
      j = two.last <= lower ? in_b.segment_above(lower) : j;
      continue;
    }
    const std::int64_t period = distribution::common_period(one.least_period(), two.least_period());
    builder.add_zone(lower, upper, period, [&](std::int64_t from, std::int64_t to) {
      return common_runs({in_a, one}, {in_b, two}, from, to);
    });
    if (one.last <= upper) ++i;
    if (two.last <= upper) ++j;
  }
  return builder.finish();
}

bool operator==(const IndexSet& a, const IndexSet& b) {
  if (a.size_ != b.size_) return false;
  if (a.state_ == b.state_ || IndexSetState::of(a).intervals == IndexSetState::of(b).intervals) return true;
  return intersect(a, b).size() == a.size_;
}

std::string to_string(const IndexSet& set) {
  if (set.empty()) return "empty";
  std::string text;
  for (const Interval& interval : set.intervals()) {
    if (!text.empty()) text += ", ";
    text += fmt::format("[{},{})", interval.first, interval.first + interval.length);
    if (interval.count > 1) text += fmt::format("+{}*{}", interval.period, interval.count);
  }
  return text;
}

}  // namespace partita
