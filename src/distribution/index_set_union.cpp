// IndexSet::of: any disjoint intervals, which may interleave with different periods, brought into segments.
#include "base/check.hpp"
#include "distribution/index_set_state.hpp"

namespace partita {
namespace {

using distribution::IndexSetBuilder;
using distribution::IndexSetState;
using distribution::Run;
using distribution::RunWalker;
using distribution::Segment;

void refuse_malformed(const Interval& interval) {
  const auto& [first, length, period, count] = interval;
  check(first >= 0 && length >= 0 && count >= 0 && (count <= 1 || (length <= period && period > 0)),
        "no interval: first {}, length {}, period {}, count {}", first, length, period, count);
  std::int64_t end = 0;
  const bool overflow = (count > 1 && __builtin_mul_overflow(count - 1, period, &end)) ||
                        __builtin_add_overflow(end, first, &end) || __builtin_add_overflow(end, length, &end);
  check(!overflow, "the interval from {} with period {} and count {} exceeds 2^63 - 1", first, period, count);
}

/// One interval as a set of one segment.
IndexSet single(const Interval& interval) {
  IndexSetBuilder builder;
  builder.add_periodic({{interval.first, interval.first + interval.length}}, interval.period, interval.count);
  return builder.finish();
}

const Segment& segment(const IndexSet& part) {
  return IndexSetState::of(part).segments.front();
}

/// Sorts runs, rejects those that overlap, concatenates those that touch.
std::vector<Run> joined(std::vector<Run> runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
  std::vector<Run> result;
  for (const Run& run : runs) {
    check(result.empty() || result.back().last <= run.first,
          "the intervals of an index set overlap at {}: [{},{}) and [{},{})", run.first,
          result.empty() ? 0 : result.back().first, result.empty() ? 0 : result.back().last, run.first,
          run.last);
    if (!result.empty() && result.back().last == run.first) {
      result.back().last = run.last;
    } else {
      result.push_back(run);
    }
  }
  return result;
}

using Parts = std::vector<const IndexSet*>;

std::vector<Run> runs_of(const Parts& parts, std::int64_t from, std::int64_t to) {
  std::vector<Run> runs;
  for (const IndexSet* part : parts) {
    RunWalker walker(IndexSetState::of(*part), segment(*part), from);
    for (; walker.valid() && walker.run().first < to; walker.seek(walker.run().last))
      runs.push_back({std::max(from, walker.run().first), std::min(to, walker.run().last)});
  }
  return joined(std::move(runs));
}

/// Parts of equal period and count that are adjacent within one period: the usual result of an
/// intersection.
bool add_side_by_side(IndexSetBuilder& builder, const Parts& parts) {
  const Segment& leader = segment(*parts.front());
  std::vector<Run> pattern;
  for (const IndexSet* part : parts) {
    const Segment& other = segment(*part);
    if (other.count != leader.count || other.period != leader.period) return false;
    pattern.push_back({other.first, other.first + other.per_period});
  }
  if (leader.count == 1 || pattern.back().last - leader.first >= leader.period) return false;
  builder.add_periodic(joined(std::move(pattern)), leader.period, leader.count);
  return true;
}

/// Between two neighbouring borders (where some part begins or ends) every part repeats without end, so their
/// union repeats with the least common multiple of their periods.
void add_mixed(IndexSetBuilder& builder, const Parts& parts) {
  std::vector<std::int64_t> borders;
  for (const IndexSet* part : parts) {
    borders.push_back(segment(*part).first);
    borders.push_back(segment(*part).last);
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  Parts active;
  auto next = parts.begin();  // ordered by `first`
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const std::int64_t lower = borders[i];
    std::erase_if(active, [&](const IndexSet* part) { return segment(*part).last <= lower; });
    while (next != parts.end() && segment(**next).first == lower) active.push_back(*next++);
    std::int64_t period = 1;
    for (const IndexSet* part : active)
      period = distribution::common_period(period, segment(*part).least_period());
    builder.add_zone(lower, borders[i + 1], period,
                     [&](std::int64_t from, std::int64_t to) { return runs_of(active, from, to); });
  }
}

}  // namespace

IndexSet IndexSet::of(const std::vector<Interval>& intervals) {
  std::vector<IndexSet> parts;
  for (const Interval& interval : intervals) {
    refuse_malformed(interval);
    if (interval.length > 0 && interval.count > 0) parts.push_back(single(interval));
  }
  std::sort(parts.begin(), parts.end(),
            [](const IndexSet& a, const IndexSet& b) { return segment(a).first < segment(b).first; });
  IndexSetBuilder builder;
  for (std::size_t i = 0; i < parts.size();) {
    Parts together{&parts[i]};  // those whose hulls meet
    std::int64_t reach = segment(parts[i++]).last;
    for (; i < parts.size() && segment(parts[i]).first < reach; ++i) {
      reach = std::max(reach, segment(parts[i]).last);
      together.push_back(&parts[i]);
    }
    if (together.size() > 1) {
      if (!add_side_by_side(builder, together)) add_mixed(builder, together);
      continue;
    }
    const Segment& only = segment(*together.front());
    builder.add_periodic({{only.first, only.first + only.per_period}}, only.period, only.count);
  }
  return builder.finish();
}

}  // namespace partita
