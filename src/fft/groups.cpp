#include "fft/groups.hpp"

#include <algorithm>
#include <cmath>

#include "base/round.hpp"
#include "fft/layouts.hpp"
#include "fft/prices.hpp"
#include "fft/storable.hpp"

namespace partita::fourier {
namespace {

// The next stage begins when the first group has arrived, so it should not be most of the array.
constexpr double most = 4, largest_first = 0.6;

/// How many groups are worth their launches, and `starts` copies each, of what the next stage transforms.
std::int64_t wanted_groups(const Problem& problem, const Stage& next, double starts) {
  const Machine& machine = problem.machine;
  const auto bytes = static_cast<double>(next.before.largest_local_size() * size_of(dtype_between(problem)));
  const double start = 2 * (starts * machine.copy_latency + 2 * machine.signal_latency);
  return std::llround(start > 0 ? std::clamp(bytes / machine.copy_bandwidth / start, 1.0, most) : most);
}

/// Of what is transferred at that price, while the other axes are transformed in `others` seconds.
double share_of_first(const HandOverPrice& price, double others, int parts, std::int64_t groups) {
  return std::clamp(share_handed_over_meanwhile(price, others, parts), 1 / static_cast<double>(groups),
                    largest_first);
}

Taking taking_between(const Problem& problem, const Stage& stage, const Stage& next) {
  return taking(stage.after, next.before, problem, static_cast<double>(size_of(dtype_between(problem))));
}

/// What the ranks own along an axis, each once, in order; nothing where that is not in ranges which are alike
/// or disjoint.
std::vector<IndexSet> ranges_along(const Layout& layout, int axis) {
  std::vector<IndexSet> ranges;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (region.empty()) continue;
    const IndexSet& set = region.sets[static_cast<std::size_t>(axis)];
    if (!set.is_range()) return {};
    ranges.push_back(set);
  }
  std::ranges::sort(ranges, {}, &IndexSet::front);
  ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].front() <= ranges[i - 1].back()) return {};
  }
  return ranges;
}

/// Of each range the elements from number begin(range) up to number end(range).
template <class Number>
IndexSet some_of_each(const std::vector<IndexSet>& ranges, const Number& begin, const Number& end) {
  std::vector<Interval> intervals;
  for (const IndexSet& range : ranges) {
    const IndexSet some = IndexSet::range(range.front() + begin(range), range.front() + end(range));
    intervals.insert(intervals.end(), some.intervals().begin(), some.intervals().end());
  }
  return IndexSet::of(intervals);
}

/// Groups of each range's indices, in multiples of `least`: `share` of the longest, and then half of what is
/// left each, so that links have no rest, and what is done when the last group has come is short all the
/// same; the last one is as long as the one before.
std::vector<IndexSet> halving_groups(const std::vector<IndexSet>& ranges, double share, std::int64_t wanted,
                                     std::int64_t least) {
  std::int64_t extent = 0;
  for (const IndexSet& range : ranges) extent = std::max(extent, range.size());
  std::vector<IndexSet> groups;
  std::int64_t begin = 0;
  auto length = std::max<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(extent)), 1);
  while (begin < extent) {
    const std::int64_t end = std::min(extent, begin + round_up(length, least));
    const auto as_far_as_it_goes = [](std::int64_t number) {
      return [number](const IndexSet& range) { return std::min(number, range.size()); };
    };
    groups.push_back(some_of_each(ranges, as_far_as_it_goes(begin), as_far_as_it_goes(end)));
    const auto more = wanted - static_cast<std::int64_t>(groups.size());
    length = more > 1 ? ceil_divide(extent - end, 2) : extent - end;
    begin = end;
  }
  return groups;
}

/// From a share `begin` of each range up to a share `end` of it.
IndexSet shares_of(const std::vector<IndexSet>& ranges, double begin, double end) {
  const auto number = [](double share) {
    return [share](const IndexSet& range) { return std::llround(share * static_cast<double>(range.size())); };
  };
  return some_of_each(ranges, number(begin), number(end));
}

}  // namespace

std::vector<double> Groups::shares() const {
  if (!several()) return {1};
  std::int64_t all = 0;
  for (const IndexSet& group : indices) all += group.size();
  std::vector<double> shares;
  for (const IndexSet& group : indices)
    shares.push_back(static_cast<double>(group.size()) / static_cast<double>(all));
  return shares;
}

Groups groups_of(const Problem& problem, const Stage& stage, int stored, const Stage& next) {
  constexpr std::int64_t shortest = 128;  // bytes of a row, as tiles of lines are
  const int axis = fastest_axis(problem);
  if (!is_of_kernel(problem, next) || axis == stored || contains(next.axes, axis)) return {};
  const std::vector<IndexSet> ranges = ranges_along(next.before, axis);
  if (ranges.empty() || ranges != ranges_along(stage.after, axis)) return {};
  const std::int64_t wanted = wanted_groups(problem, next, 1);
  if (wanted < 2) return {};
  const std::int64_t least = shortest / size_of(dtype_between(problem));
  const double others = slower_beside_stores * compute_seconds(stage, problem, stored);
  const double share = share_of_first(store_price(taking_between(problem, stage, next), problem), others,
                                      parts_beside_stores(problem, stage, stored, next.before), wanted);
  return {axis, halving_groups(ranges, share, wanted, least)};
}

Groups copied_groups_of(const Problem& problem, const Stage& stage, const Stage& next) {
  if (!problem.on_device() || !on_one_node(problem.topology) || problem.options.scratch_bytes != 0) return {};
  if (stage.axes.empty() || !is_plain(stage.after) || !is_plain(next.before) ||
      same(stage.after, next.before))
    return {};
  const auto slowest = std::ranges::find_if(problem.input.axis_order,
                                            [&](std::int64_t axis) { return !contains(next.axes, axis); });
  if (slowest == problem.input.axis_order.end()) return {};
  const auto axis = static_cast<int>(*slowest);
  const std::vector<IndexSet> ranges = ranges_along(next.before, axis);
  const Taking taken = taking_between(problem, stage, next);
  std::int64_t wanted = wanted_groups(problem, next, taken.givers);
  for (const IndexSet& range : ranges) wanted = std::min(wanted, range.size());
  if (ranges.empty() || wanted < 2) return {};
  const double even = 1 / static_cast<double>(wanted);
  const double first =
      !contains(stage.axes, axis)
          ? even
          : share_of_first(copy_price(taken, problem), compute_seconds(stage, problem),
                           leaving_parts_of(problem, stage, false, next.before).count, wanted);
  Groups groups{axis, {}};
  const auto end = [&](std::int64_t group) {  // as a share of each range
    return first + (1 - first) * static_cast<double>(group) / static_cast<double>(wanted - 1);
  };
  for (std::int64_t group = 0; group < wanted; ++group)
    groups.indices.push_back(shares_of(ranges, group == 0 ? 0 : end(group - 1), end(group)));
  return groups;
}

}  // namespace partita::fourier
