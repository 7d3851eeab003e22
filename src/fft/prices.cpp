#include "fft/prices.hpp"

#include <algorithm>
#include <cmath>

#include "fft/storable.hpp"
#include "plan/cost.hpp"

namespace partita::fourier {
namespace {

double copy_share(const Problem& problem) {
  const double sharers = planning::ranks_on_node(problem.topology, 0);
  return std::min(problem.machine.copy_bandwidth, problem.machine.node_copy_bandwidth / sharers);
}

/// What copies of boxes reach of a device's link while it transforms, as measured (docs/performance.md).
constexpr double share_of_link = 0.8;

/// Of copies of such a region, whose rows are pieces of an array's rows: 1000 bytes take three times as long
/// (docs/performance.md).
double slower_by_rows(const Region& region, const Layout& of, int fastest, double item_bytes) {
  constexpr double short_row = 2048;
  const std::int64_t row = region.sets[static_cast<std::size_t>(fastest)].size();
  if (row == 0 || row == of.shape()[fastest]) return 1;
  return 1 + short_row / (static_cast<double>(row) * item_bytes);
}

}  // namespace

Taking taking(const Layout& from, const Layout& to, const Problem& problem, double item_bytes) {
  const Topology& topology = problem.topology;
  const int fastest = fastest_axis(problem);
  Taking result;
  for (const Layout::Cell& cell : from.cells(to.region(0))) {
    if (problem.on_device())
      result.slower = std::max(result.slower, slower_by_rows(cell.region, from, fastest, item_bytes));
    const int owner = Layout::choose_replica(cell.contributions.front(), 0, topology);
    const double bytes = static_cast<double>(cell.region.size()) * item_bytes;
    if (owner == 0) {
      result.own += bytes;
    } else if (topology.same_node(owner, 0)) {
      result.node += bytes;
      result.givers += 1;
    } else {
      result.network += bytes;
      result.messages += 1;
    }
  }
  return result;
}

double compute_seconds(const Stage& stage, const Problem& problem, int but) {
  double steps = 0, passes = 0;
  for (const int axis : stage.axes) {
    if (axis == but) continue;
    ++passes;
    const std::int64_t n = std::max(stage.before.shape()[axis], stage.after.shape()[axis]);
    steps += std::log2(static_cast<double>(std::max<std::int64_t>(n, 2)));
  }
  const auto elements =
      static_cast<double>(std::max(stage.before.largest_local_size(), stage.after.largest_local_size()));
  const double bytes = elements * static_cast<double>(size_of(problem.dtype));
  return std::max(
      5 * elements * steps / planning::transform_flops(problem.machine, problem.dtype),
      passes * bytes / (problem.on_device() ? problem.machine.copy_bandwidth : copy_share(problem)));
}

double exchange_seconds(const Taking& taken, const Problem& problem, double computed, int parts) {
  const Machine& machine = problem.machine;
  const double sharers = planning::ranks_on_node(problem.topology, 0);
  const double share = copy_share(problem);
  const double link = machine.peer_bandwidth * (problem.on_device() ? share_of_link : 1);
  const double node = taken.node * taken.slower / std::min(share, link);
  // A message is packed and unpacked; the link works meanwhile.
  const double copied = taken.own / share + (problem.on_device() ? 0 : node) + 2 * taken.network / share;
  const double sent = taken.network * sharers / machine.network_bandwidth + (problem.on_device() ? node : 0);
  return std::max(computed + copied, computed / parts + sent) +
         parts * taken.messages * 2 * machine.copy_latency +
         (problem.on_device() ? parts * taken.givers * machine.copy_latency : 0) + machine.network_latency +
         2 * machine.signal_latency;
}

HandOverPrice store_price(const Taking& taken, const Problem& problem) {
  const Machine& machine = problem.machine;
  const double bandwidth = machine.store_bandwidth > 0 ? machine.store_bandwidth : machine.peer_bandwidth;
  const double pass = (taken.own + taken.node) / copy_share(problem);
  return {pass, std::max(pass, taken.node / bandwidth)};
}

HandOverPrice copy_price(const Taking& taken, const Problem& problem) {
  return {taken.own / copy_share(problem),
          taken.node * taken.slower /
              std::min(copy_share(problem), problem.machine.peer_bandwidth * share_of_link)};
}

double copied_seconds(const HandOverPrice& price, const Problem& problem, double computed, int parts,
                      double first, std::size_t groups, double takers) {
  const Machine& machine = problem.machine;
  const double start = takers * machine.copy_latency;
  const double meanwhile =
      std::max(computed + first * price.pass, computed / parts + first * price.links + parts * start);
  return meanwhile + (1 - first) * price.links + static_cast<double>(groups - 1) * start +
         2 * machine.signal_latency;
}

double store_seconds(const HandOverPrice& price, const Problem& problem, double computed, int parts,
                     double first) {
  const double meanwhile = std::max(computed + first * price.pass, computed / parts + first * price.links);
  return meanwhile + (1 - first) * price.links + parts * problem.machine.copy_latency +
         2 * problem.machine.signal_latency;
}

// computed / parts + first * links = computed + first * pass
double share_handed_over_meanwhile(const HandOverPrice& price, double computed, int parts) {
  const double spare = price.links - price.pass;
  const double beside = computed * (1 - 1.0 / parts);
  return beside < spare ? beside / spare : 1;
}

double seconds_behind_groups(const HandOverPrice& price, double computed, const std::vector<double>& shares) {
  if (shares.size() < 2) return computed;
  const double later = 1 - shares.front();
  double end = shares.front() * computed, come = 0;  // since the first group has come
  for (std::size_t group = 1; group < shares.size(); ++group) {
    come += shares[group];
    end = std::max(end, come * price.links) + shares[group] * computed;
  }
  return std::max(end, computed + later * price.pass) - later * price.links;
}

}  // namespace partita::fourier
