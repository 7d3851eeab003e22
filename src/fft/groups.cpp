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

double share_of_first(const Problem& problem, const Stage& stage, int stored, const Stage& next) {
  const Dtype dtype = dtype_between(problem);
  const Taking taken =
      taking(stage.after, next.before, problem.topology, static_cast<double>(size_of(dtype)));
  const double others = compute_seconds(stage, problem, stored);
  const int parts = parts_of(problem, stage.after, dtype, stage.axes, next.before).count;
  return share_stored_meanwhile(store_price(taken, problem), others, parts);
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
  const double share = std::clamp(share_of_first(problem, stage, stored, next),
                                  1 / static_cast<double>(wanted), largest_first);
  const auto first = static_cast<std::int64_t>(share * static_cast<double>(extent));
  const std::int64_t begun = std::min(extent, round_up(std::max<std::int64_t>(first, 1), least));
  const std::int64_t length = round_up(ceil_divide(extent - begun, wanted - 1), least);
  Groups groups{axis, {IndexSet::range(0, begun)}};
  for (std::int64_t next_one = begun; next_one < extent; next_one += length)
    groups.indices.push_back(IndexSet::range(next_one, std::min(extent, next_one + length)));
  return groups;
}

}  // namespace partita::fourier
