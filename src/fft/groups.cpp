#include "fft/groups.hpp"

#include <algorithm>
#include <cmath>

#include "base/round.hpp"
#include "fft/layouts.hpp"
#include "fft/prices.hpp"
#include "fft/storable.hpp"

namespace partita::fourier {
namespace {

// The next stage begins when the first has come, so it had better not be most of the array.
constexpr double most = 4, largest_first = 0.5;

/// What a stage costs whose results are stored, but for the steps of each group.
struct Storage {
  StorePrice price;
  double others = 0;  // along the axes that are not stored
  int parts = 1;
  bool may_stay_in_cache = false;
  int parts_in_cache = 1;
  double next = 0;  // of the stage that follows

  double seconds_in(const Problem& problem, const Groups& groups) const {
    const double first = groups.first_share();
    return store_seconds(price, problem, others, parts, first) +
           seconds_behind_stores(price, next, first, groups.indices.size());
  }
  double seconds_in_cache(const Problem& problem) const {
    return cached_store_seconds(price, problem, others, parts_in_cache) + next;
  }
};

Storage storage_of(const Problem& problem, const Stage& stage, int stored, const Stage& next) {
  const Dtype dtype = dtype_between(problem);
  const Taking taken =
      taking(stage.after, next.before, problem.topology, static_cast<double>(size_of(dtype)));
  Storage result;
  result.price = store_price(taken, problem);
  result.others = compute_seconds(stage, problem, stored);
  result.parts = parts_of(problem, stage.after, dtype, stage.axes, next.before).count;
  result.may_stay_in_cache = stage.axes.size() > 1;
  result.parts_in_cache = parts_in_cache(problem, stage.after, dtype, stage.axes).count;
  result.next = compute_seconds(next, problem);
  return result;
}

}  // namespace

double Groups::first_share() const {
  if (!several()) return 1;
  std::int64_t all = 0;
  for (const IndexSet& group : indices) all += group.size();
  return static_cast<double>(indices.front().size()) / static_cast<double>(all);
}

Groups groups_of(const Problem& problem, const Stage& stage, int stored, const Stage& next) {
  constexpr std::int64_t shortest = 128;  // bytes of a row, as tiles of lines are
  const int axis = fastest_axis(problem);
  const auto whole = [&](const Layout& layout) -> bool {
    return whole_axes(layout)[static_cast<std::size_t>(axis)];
  };
  if (!is_of_kernel(problem, next) || axis == stored || contains(next.axes, axis)) return {};
  if (!whole(stage.after) || !whole(next.before)) return {};
  const Machine& machine = problem.machine;
  const std::int64_t item = size_of(dtype_between(problem));
  const double pass = static_cast<double>(next.before.largest_local_size() * item) / machine.copy_bandwidth;
  const double start = 2 * (machine.copy_latency + 2 * machine.signal_latency);
  const std::int64_t wanted = std::llround(start > 0 ? std::clamp(pass / start, 1.0, most) : most);
  if (wanted < 2) return {};
  const std::int64_t extent = next.before.shape()[axis], least = shortest / item;
  const Storage storage = storage_of(problem, stage, stored, next);
  const double share = std::clamp(share_stored_meanwhile(storage.price, storage.others, storage.parts),
                                  1 / static_cast<double>(wanted), largest_first);
  const auto first = static_cast<std::int64_t>(share * static_cast<double>(extent));
  const std::int64_t begun = std::min(extent, round_up(std::max<std::int64_t>(first, 1), least));
  const std::int64_t length = round_up(ceil_divide(extent - begun, wanted - 1), least);
  Groups groups{axis, {IndexSet::range(0, begun)}};
  for (std::int64_t next_one = begun; next_one < extent; next_one += length)
    groups.indices.push_back(IndexSet::range(next_one, std::min(extent, next_one + length)));
  const bool in_cache =
      storage.may_stay_in_cache && storage.seconds_in_cache(problem) < storage.seconds_in(problem, groups);
  return in_cache ? Groups{} : groups;
}

}  // namespace partita::fourier
