#include "fft/scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "fft/four_step.hpp"
#include "fft/layouts.hpp"
#include "fft/stores.hpp"
#include "plan/cost.hpp"

namespace partita::fourier {
namespace {

/// What rank 0, which owns most, takes where an array changes hands.
struct Taking {
  double own = 0;
  double node = 0;
  double network = 0;
  double messages = 0;
  double givers = 0;  // of the node
};

Taking taking(const Layout& from, const Layout& to, const Topology& topology, double item_bytes) {
  Taking result;
  for (const Layout::Cell& cell : from.cells(to.region(0))) {
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

double copy_share(const Problem& problem) {
  const double sharers = planning::ranks_on_node(problem.topology, 0);
  return std::min(problem.machine.copy_bandwidth, problem.machine.node_copy_bandwidth / sharers);
}

/// What copies of boxes reach of a device's link while it transforms, as measured (docs/performance.md).
constexpr double share_of_link = 0.8;

/// What is computed before the exchange takes `computed` seconds and is handed over in so many parts: the
/// first part's messages leave when that has been computed, and the link works while the rest is. So do the
/// copy engines of devices.
double exchange_seconds(const Taking& taken, const Problem& problem, double computed = 0, int parts = 1) {
  const Machine& machine = problem.machine;
  const double sharers = planning::ranks_on_node(problem.topology, 0);
  const double share = copy_share(problem);
  const double link = machine.peer_bandwidth * (problem.on_device() ? share_of_link : 1);
  const double node = taken.node / std::min(share, link);
  // A message is packed and unpacked; the link works meanwhile.
  const double copied = taken.own / share + (problem.on_device() ? 0 : node) + 2 * taken.network / share;
  const double sent = taken.network * sharers / machine.network_bandwidth + (problem.on_device() ? node : 0);
  return std::max(computed + copied, computed / parts + sent) +
         parts * taken.messages * 2 * machine.copy_latency +
         (problem.on_device() ? parts * taken.givers * machine.copy_latency : 0) + machine.network_latency +
         2 * machine.signal_latency;
}

/// The last transform reads the array once and stores it at the pace of the slowest of memory and links, one
/// part while the other axes of the next are computed, which takes `computed` seconds in all.
double store_seconds(const Taking& taken, const Problem& problem, double computed, int parts) {
  const Machine& machine = problem.machine;
  const double bandwidth = machine.store_bandwidth > 0 ? machine.store_bandwidth : machine.peer_bandwidth;
  const double pass = (taken.own + taken.node) / copy_share(problem);
  return std::max(computed + pass, computed / parts + std::max(pass, taken.node / bandwidth)) +
         parts * machine.copy_latency + 2 * machine.signal_latency;
}

/// Of the stage's axes, but for one. Devices go over memory once for each.
double compute_seconds(const Stage& stage, const Problem& problem, int but = -1) {
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
  const double memory = problem.on_device() ? passes * bytes / problem.machine.copy_bandwidth : 0;
  return std::max(5 * elements * steps / problem.machine.flops, memory);
}

std::string describe(const Scheme& scheme) {
  return fmt::format("{} {:.3g} ms and {:.4g} MiB from others", scheme.name, scheme.seconds * 1e3,
                     static_cast<double>(scheme.moved_bytes) / (1 << 20));
}

/// The best of each method, and of the chosen one the best in the other way, so that the reader sees what was
/// compared.
std::string compared(const std::vector<Scheme>& schemes, const Scheme& chosen) {
  std::string text;
  for (const FftMethod method :
       {FftMethod::local, FftMethod::slab, FftMethod::pencil, FftMethod::four_step}) {
    const Scheme* best = nullptr;
    for (const Scheme& scheme : schemes) {
      if (scheme.method != method || (scheme.method == chosen.method && scheme.stores == chosen.stores))
        continue;
      if (best == nullptr || scheme.seconds < best->seconds) best = &scheme;
    }
    if (best != nullptr) text += "; " + describe(*best);
  }
  return text;
}

// The columns are gathered, stored in rows, and these stored transposed; a half spectrum is in other parts
// than the whole one.
void predict_four_step(Scheme& scheme, const Problem& problem, const std::optional<Layout>& wanted) {
  const auto ranks = static_cast<double>(problem.topology.ranks());
  const Stage& stage = scheme.stages.front();
  const Layout columns(Slab(1), {scheme.factors->rows, scheme.factors->columns}, problem.topology.ranks());
  const Layout rows(Slab(0), columns.shape(), problem.topology.ranks());
  const Dtype dtype = problem.halves ? problem.dtype : problem.input.dtype;
  const double part =
      static_cast<double>(size_of(dtype)) * static_cast<double>(volume(columns.shape())) / ranks;
  const double others = part * (ranks - 1) / ranks;
  const bool near = on_one_node(problem.topology);
  const Taking taken = near ? Taking{part / ranks, others, 0, 0} : Taking{part / ranks, 0, others, ranks};
  int exchanges = 3;
  if (!same(problem.input.layout, stage.before) || problem.doubles) ++exchanges;
  if ((wanted && !same(*wanted, stage.after)) || problem.halves) ++exchanges;
  // Half of the transforms stand before each of the last two exchanges of the line.
  const int parts = parts_of(problem, columns, dtype, {0}, rows).count;
  scheme.seconds = (exchanges - 2) * exchange_seconds(taken, problem) +
                   2 * exchange_seconds(taken, problem, compute_seconds(stage, problem) / 2, parts);
  scheme.moved_bytes = static_cast<std::int64_t>(exchanges * others);
}

// --- overlap

// What is not overlapped is the first part's transform and the last part's messages, so that more than a few
// parts gain little; but small ones are still in cache where they are packed. Hence few parts where that
// makes messages shorter than they would be, and many where it does not.
constexpr std::int64_t few_parts = 8;
constexpr std::int64_t most_parts = 64;
constexpr std::int64_t shortest_message = std::int64_t{256} << 10;
constexpr std::int64_t longest_message = std::int64_t{1} << 20;
// Where the caller bounds the scratch, messages are that much shorter than the bound anyway.
constexpr std::int64_t messages_in_scratch = 16;

std::int64_t parts_for(std::int64_t transfer, std::int64_t scratch_bytes) {
  const std::int64_t bound =
      scratch_bytes > 0 ? std::max<std::int64_t>(scratch_bytes / messages_in_scratch, 1) : longest_message;
  const std::int64_t few = std::min(few_parts, transfer / std::min(bound, shortest_message));
  return std::clamp(transfer / std::min(bound, longest_message), few, most_parts);
}

// A device transforms large parts as fast as the whole; their copies, or groups of messages, are long.
constexpr std::int64_t device_part = std::int64_t{16} << 20;
constexpr std::int64_t most_device_parts = 8;

/// The slowest axis in memory that is long enough, so that parts lie together; else the longest.
int axis_to_cut(const Region& own, const Extents& slowest_first, const std::vector<int>& axes,
                std::int64_t parts) {
  int longest = -1;
  std::int64_t most = 0;
  for (const std::int64_t axis : slowest_first) {
    if (contains(axes, axis)) continue;
    const std::int64_t extent = own.sets[static_cast<std::size_t>(axis)].size();
    if (extent >= parts) return static_cast<int>(axis);
    if (extent > most) {
      most = extent;
      longest = static_cast<int>(axis);
    }
  }
  return longest;
}

/// Predicted seconds and bytes of a rank, from the formulae of the cost model: what it takes in each change
/// of hands, and what it computes.
void predict(Scheme& scheme, const Problem& problem, const std::optional<Layout>& wanted) {
  if (scheme.factors) return predict_four_step(scheme, problem, wanted);
  const bool in_place = through_peers(problem);
  const Layout* from = &problem.input.layout;
  const Stage* done = nullptr;
  double bytes = 0, computed = 0;
  std::optional<int> stored;  // the axis along which the last change of hands was
  const auto change = [&](const Layout& to, Dtype dtype, bool reachable) {
    stored.reset();
    if (same(*from, to)) {
      scheme.seconds += computed;
    } else {
      const Taking taken = taking(*from, to, problem.topology, static_cast<double>(size_of(dtype)));
      const int parts = done == nullptr ? 1 : parts_of(problem, *from, dtype, done->axes, to).count;
      const std::optional<int> axis =
          scheme.stores && done != nullptr && reachable ? stored_axis(problem, *done, to) : std::nullopt;
      bytes += taken.node + taken.network;
      scheme.seconds += axis ? store_seconds(taken, problem, compute_seconds(*done, problem, *axis),
                                             done->axes.size() == 1 ? 1 : parts)
                             : exchange_seconds(taken, problem, computed, parts);
      stored = axis;
    }
    computed = 0;
  };
  scheme.seconds = 0;
  for (const Stage& stage : scheme.stages) {
    const bool first = &stage == &scheme.stages.front();
    change(stage.before, problem.halves && !first ? problem.dtype : problem.input.dtype, true);
    computed = compute_seconds(stage, problem);
    if (stored) {  // of what arrives in groups, the last one is transformed behind it
      const std::size_t groups = groups_of(problem, *done, *stored, stage).indices.size();
      computed /= static_cast<double>(std::max<std::size_t>(groups, 1));
    }
    from = &stage.after;
    done = &stage;
  }
  // Inside a node the last stage stores its lines where they belong, whoever owns that place.
  const bool in_cache = in_place && scheme.stages.size() > 1;
  if (wanted && !in_cache) change(*wanted, problem.dtype, problem.reachable_output);
  scheme.seconds += computed;
  scheme.moved_bytes = static_cast<std::int64_t>(bytes);
}

// --- how arrays change hands

/// Whether something of the scheme can be stored by its owners' peers; unless that was asked for, only what
/// is worth it.
bool may_store(const Scheme& scheme, const Problem& problem, const std::optional<Layout>& wanted) {
  if (scheme.factors) return false;
  const bool any = problem.options.exchange == FftExchange::stores;
  const auto suits = [&](const Stage& stage, const Layout& to) {
    return stored_axis(problem, stage, to) && (any || stores_whole_words(problem, stage, to));
  };
  for (std::size_t i = 0; i + 1 < scheme.stages.size(); ++i) {
    if (suits(scheme.stages[i], scheme.stages[i + 1].before)) return true;
  }
  return wanted && problem.reachable_output && suits(scheme.stages.back(), *wanted);
}

/// Those that store, beside those that copy or in their place, as the options want.
void add_stores(std::vector<Scheme>& schemes, const Problem& problem, const std::optional<Layout>& wanted) {
  const FftExchange asked = problem.options.exchange;
  const bool worth_a_look = asked == FftExchange::stores || problem.machine.store_bandwidth > 0;
  if (asked == FftExchange::copies || !worth_a_look) return;
  std::vector<Scheme> storing;
  for (const Scheme& scheme : schemes) {
    if (!may_store(scheme, problem, wanted)) continue;
    storing.push_back(scheme);
    storing.back().stores = true;
    storing.back().name += "+stores";
  }
  if (asked == FftExchange::stores && !storing.empty()) return schemes.swap(storing);
  schemes.insert(schemes.end(), storing.begin(), storing.end());
}

}  // namespace

bool on_one_node(const Topology& topology) {
  for (int rank = 1; rank < topology.ranks(); ++rank) {
    if (!topology.same_node(0, rank)) return false;
  }
  return true;
}

bool through_peers(const Problem& problem) {
  return on_one_node(problem.topology) && !problem.on_device();
}

// Judged by rank 0, which owns most.
redistribution::Parts parts_of(const Problem& problem, const Layout& from, Dtype dtype,
                               const std::vector<int>& axes, const Layout& to) {
  const Region own = from.region(0);
  if (own.empty() || through_peers(problem) || same(from, to)) return {};
  const std::int64_t bytes = own.size() * size_of(dtype);
  const auto takers = static_cast<std::int64_t>(to.cells(own).size());
  const bool are_large =
      (on_one_node(problem.topology) || problem.grouped) && problem.options.scratch_bytes == 0;
  const std::int64_t wanted =
      are_large ? std::clamp<std::int64_t>(bytes / device_part, 1, most_device_parts)
                : parts_for(bytes / std::max<std::int64_t>(takers, 1), problem.options.scratch_bytes);
  const int axis = axis_to_cut(own, problem.input.axis_order, axes, wanted);
  if (axis < 0) return {};
  const std::int64_t parts = std::min(wanted, own.sets[static_cast<std::size_t>(axis)].size());
  return parts < 2 ? redistribution::Parts{} : redistribution::Parts{axis, static_cast<int>(parts)};
}

Scheme choose(const Problem& problem, const std::optional<Layout>& wanted) {
  std::vector<Scheme> schemes = candidates(problem, wanted);
  const FftMethod method = problem.options.method;
  check(!schemes.empty(), "this transform of {} along axes ({}) cannot use the method asked for",
        problem.input.layout.to_string(), fmt::join(problem.axes, ","));
  add_stores(schemes, problem, wanted);
  for (Scheme& scheme : schemes) predict(scheme, problem, wanted);
  const auto best = std::min_element(schemes.begin(), schemes.end(),
                                     [](const Scheme& a, const Scheme& b) { return a.seconds < b.seconds; });
  Scheme chosen = *best;
  chosen.reason = (method == FftMethod::automatic ? "predicted: " : "asked for; predicted: ") +
                  describe(chosen) + compared(schemes, chosen);
  return chosen;
}

}  // namespace partita::fourier
