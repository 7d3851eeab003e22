#include "redistribute/method.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/check.hpp"
#include "base/round.hpp"
#include "base/units.hpp"
#include "plan/message_window.hpp"
#include "plan/moves.hpp"
#include "plan/sample.hpp"
#include "redistribute/exchange.hpp"

namespace partita::redistribution {

namespace {

bool in_place(const Operand& operand) {
  return operand.residency == Residency::heap && operand.dense;
}

std::string why_not_in_place(const Operand& operand) {
  return operand.residency == Residency::heap ? "is strided, not dense" : "is ordinary memory";
}

// Whether what one rank takes of another is there in short runs with gaps, as in the rows of a block-cyclic
// array. A reader would fetch the gaps in vain (the processor reads ahead); the owner, who
// writes to all its peers in turn, reads each row once and in order. Judged by the ranks that own the first
// element, so alike on all ranks.
bool reads_with_gaps(const Problem& problem) {
  constexpr std::int64_t long_run = 8192;  // bytes
  const Layout& source = problem.source.layout;
  if (source.dimensions() == 0 || volume(source.shape()) == 0) return false;
  const Index first = Extents::filled(source.dimensions(), 0);
  const auto fastest = static_cast<std::size_t>(problem.source.axis_order[source.dimensions() - 1]);
  const IndexSet owned = source.region(source.owner(first)).sets[fastest];
  const Layout& destination = problem.destination.layout;
  const IndexSet wanted = destination.region(destination.owner(first)).sets[fastest];
  const IndexSet common = intersect(owned, wanted);
  const Interval& run = common.intervals().front();
  const bool gaps = owned.position(common.back()) - owned.position(common.front()) + 1 > common.size();
  return gaps && run.length * problem.item_bytes() < long_run;
}

bool is_dense_ordinary(const Operand& operand) {
  return operand.residency == Residency::ordinary && operand.dense;
}

/// What a rank takes from others of its node, as the kernel would copy it.
struct Taken {
  double bytes = 0;
  double rows = 0;  // contiguous at both ends
};

Taken taken_by(const Problem& problem, int rank) {
  Problem theirs = problem;
  theirs.rank = rank;
  Plan plan;
  for (const Operand* operand : {&problem.source, &problem.destination})
    plan.buffers.push_back({"", BufferKind::operand, *operand});
  Taken taken;
  for (Overlap& overlap : exchange(theirs).incoming) {
    if (overlap.peer == rank || !problem.topology.same_node(rank, overlap.peer)) continue;
    Step step;
    step.region = std::move(overlap.region);
    step.from = {0, overlap.peer, 0, {}};
    step.to = {1, rank, 0, {}};
    const auto bytes = static_cast<double>(planning::moved_bytes(plan, step));
    taken.bytes += bytes;
    taken.rows += bytes / planning::run_bytes(plan, step);
  }
  return taken;
}

// The kernel looks for the pages of each row anew: that takes a microsecond, in which 16 KiB go through
// shared buffers. From 32 KiB on its one copy is the faster way (docs/performance.md). Judged by some of the
// ranks, so alike on all.
bool takes_long_rows(const Problem& problem) {
  constexpr double long_row = 32 << 10;
  Taken taken;
  const std::array<Layout, 2> layouts{problem.source.layout, problem.destination.layout};
  for (const int rank : planning::sample_ranks(problem.topology, layouts, 4).ranks) {
    const Taken more = taken_by(problem, rank);
    taken.bytes += more.bytes;
    taken.rows += more.rows;
  }
  return taken.rows > 0 && taken.bytes >= long_row * taken.rows;
}

bool may_pull(const Problem& problem) {
  return problem.topology.has_cross_memory() && !problem.same_layout && !problem.accumulates &&
         is_dense_ordinary(problem.source);
}

struct Choice {
  RedistributeMethod method;
  std::string reason;
};

// Inside a node, the first that applies:
//
//   source           destination      source partial   method   each byte is copied
//   heap and dense,  heap and dense   no               pushed   once: devices store faster than they load
//     on a device
//   heap and dense,  heap and dense   no               pushed   once: the source writes it in place, in order
//     with gaps
//   heap and dense   any              any              direct   once: the destination reads it in place
//   otherwise        heap and dense   no               pushed   once: the source writes it in place
//   ordinary and     ordinary and     no               pulled   once, by the kernel, if it may: rows are long
//     dense            dense
//   ordinary and     otherwise        no               pulled   once: the destination's device reads it in
//   place,
//     dense on a                                                if it may
//     device
//   otherwise        otherwise        -                staged   twice
//   otherwise        any              yes              staged   twice: only the taker accumulates
//
// `messages` is never chosen inside a node; between nodes it is the only way.
Choice choose_inside(const Problem& problem) {
  if (in_place(problem.source)) {
    const bool may_push = in_place(problem.destination) && !problem.accumulates;
    if (may_push && problem.source.space == MemorySpace::device) {
      return {RedistributeMethod::pushed,
              "between devices stores are faster than loads: the source writes into the destination"};
    }
    if (may_push && reads_with_gaps(problem)) {
      return {RedistributeMethod::pushed,
              "the source has short runs with gaps: it writes into the destination on the symmetric heap"};
    }
    return {RedistributeMethod::direct,
            "the source is on the symmetric heap: the destination reads it in place"};
  }
  const std::string source = "the source " + why_not_in_place(problem.source);
  if (may_pull(problem) && problem.source.space == MemorySpace::device && !in_place(problem.destination)) {
    return {RedistributeMethod::pulled, source + ": the destination's device reads it in place"};
  }
  if (may_pull(problem) && problem.source.space == MemorySpace::host &&
      is_dense_ordinary(problem.destination) && takes_long_rows(problem)) {
    return {RedistributeMethod::pulled, source + ": the kernel copies it for the destination"};
  }
  if (!in_place(problem.destination)) {
    return {RedistributeMethod::staged, source + ": staged through shared buffers"};
  }
  if (problem.accumulates) {
    return {RedistributeMethod::staged, source + " and has to be reduced: staged through shared buffers"};
  }
  return {RedistributeMethod::pushed, source + ": it writes into the destination on the symmetric heap"};
}

Choice forced(const Problem& problem) {
  const RedistributeMethod method = problem.options.method;
  if (method == RedistributeMethod::direct) {
    check(in_place(problem.source),
          "method direct needs a dense source on the symmetric heap, but the source ({}) {}",
          problem.source.to_string(), why_not_in_place(problem.source));
  }
  if (method == RedistributeMethod::pushed) {
    check(in_place(problem.destination),
          "method pushed needs a dense destination on the symmetric heap, but the destination ({}) {}",
          problem.destination.to_string(), why_not_in_place(problem.destination));
    check(!problem.accumulates, "method pushed cannot accumulate, but the source ({}) is partial",
          problem.source.to_string());
  }
  if (method == RedistributeMethod::pulled) {
    check(is_dense_ordinary(problem.source),
          "method pulled needs a dense source in ordinary memory, but the source is {}",
          problem.source.to_string());
    check(!problem.accumulates, "method pulled cannot accumulate, but the source ({}) is partial",
          problem.source.to_string());
    check(problem.topology.has_cross_memory() || problem.topology.node_count() == problem.topology.ranks(),
          "method pulled needs ranks that may read each other's memory, which is not permitted here (see "
          "cross_memory)");
  }
  return {method, "requested by the caller"};
}

Choice choose(const Problem& problem) {
  return problem.options.method == RedistributeMethod::automatic ? choose_inside(problem) : forced(problem);
}

// Some node numbers may be used by no rank.
int nodes_in_use(const Topology& topology) {
  std::unordered_set<int> nodes;
  for (int rank = 0; rank < topology.ranks(); ++rank) nodes.insert(topology.node(rank));
  return static_cast<int>(nodes.size());
}

// --- scratch

// Shared staging: the slots of a rank stay in its second-level cache, and a chunk is long enough that a
// handshake costs little.
constexpr std::int64_t ring_bytes = 32 * mebibyte;
constexpr std::int64_t largest_chunk = 2 * mebibyte;
constexpr std::int64_t short_chunk = 64 * kibibyte;  // below it, fewer slots rather than shorter chunks
constexpr std::int64_t smallest_chunk = 32 * kibibyte;
constexpr std::int64_t most_ring_bytes = 64 * mebibyte;  // which ends what the smallest chunk asks for
// Between devices a piece costs five starts, some 25 us, in which a link carries 10 MiB. One slot is filled
// while the other is read.
constexpr std::int64_t device_ring_bytes = 256 * mebibyte;
constexpr std::int64_t largest_device_chunk = 32 * mebibyte;

// Messages: eight of the largest in flight each way, many more where they are small.
constexpr std::int64_t window_bytes = 8 * mebibyte;
constexpr std::int64_t largest_message = mebibyte;
constexpr std::int64_t window_messages = 8;
// Of device memory, a message costs some starts; twice as much of it was slower (docs/performance.md).
constexpr std::int64_t device_window_bytes = 16 * mebibyte;
constexpr std::int64_t largest_device_message = 2 * mebibyte;

std::int64_t largest_node(const Topology& topology) {
  std::unordered_map<int, std::int64_t> ranks_of;
  std::int64_t result = 0;
  for (int rank = 0; rank < topology.ranks(); ++rank) {
    result = std::max(result, ++ranks_of[topology.node(rank)]);
  }
  return result;
}

// No transfer is larger than the smaller of the two local parts.
std::int64_t largest_transfer(const Problem& problem) {
  const std::int64_t elements =
      std::min(problem.source.layout.largest_local_size(), problem.destination.layout.largest_local_size());
  return std::max(round_up(elements * problem.item_bytes(), cache_line), cache_line);
}

void choose_shared(Staging& staging, const Problem& problem, std::int64_t bound, std::int64_t transfer) {
  const std::int64_t peers = largest_node(problem.topology) - 1;
  const bool on_device = problem.source.space == MemorySpace::device;
  const std::int64_t room = on_device ? device_ring_bytes : ring_bytes;
  const std::int64_t budget = bound > 0 ? bound : room;
  staging.slots = on_device ? 2 : 4;
  staging.chunk = round_down(budget / (peers * staging.slots), cache_line);
  if (staging.chunk < short_chunk) {
    staging.slots = 2;
    staging.chunk = round_down(budget / (peers * staging.slots), cache_line);
  }
  if (bound == 0) {
    const std::int64_t affordable =
        std::max(round_down(most_ring_bytes / (peers * staging.slots), cache_line), cache_line);
    staging.chunk = std::max(staging.chunk, std::min(smallest_chunk, affordable));
  }
  staging.chunk = std::min({staging.chunk, on_device ? largest_device_chunk : largest_chunk, transfer});
  if (staging.chunk == transfer) staging.slots = 1;  // for the one piece of a pair
  staging.shared_bytes = peers * staging.slots * staging.chunk;
}

void choose_private(Staging& staging, const Problem& problem, std::int64_t bound, std::int64_t transfer) {
  const std::int64_t ranks = problem.topology.ranks();
  const bool on_device = problem.source.space == MemorySpace::device;
  const std::int64_t room = on_device ? device_window_bytes : window_bytes;
  const std::int64_t budget = bound > 0 ? round_down(bound / 2, cache_line) : room;
  const std::int64_t longest =
      std::max(round_down(budget / window_messages, cache_line), std::min(budget, cache_line));
  const std::int64_t most = on_device ? largest_device_message : largest_message;
  staging.message = std::min({longest, most, transfer});
  // Little to send needs little room: every peer's messages at once, at most as many as may be in flight.
  const std::int64_t useful =
      staging.message *
      std::clamp<std::int64_t>(2 * ranks, window_messages,
                               static_cast<std::int64_t>(planning::FifoWindow::most_pieces));
  staging.window = std::min(budget, useful);
  staging.private_bytes = 2 * staging.window;
}

}  // namespace

Method choose_method(const Problem& problem) {
  const Choice choice = choose(problem);
  const int ranks = problem.topology.ranks();
  if (ranks == 1 || problem.same_layout) {
    return {choice.method, false, false, "local",
            ranks == 1 ? "there is one rank" : "every rank already owns its elements"};
  }
  if (choice.method == RedistributeMethod::grouped) {
    return {choice.method, false, true, "grouped",
            "messages in rounds, each one group of sends and receives"};
  }
  const int nodes = nodes_in_use(problem.topology);
  Method result{choice.method, nodes<ranks, nodes> 1, std::string(name(choice.method)), choice.reason};
  if (!result.node_pairs) {
    result.name = "messages";
    result.reason = "no two ranks share a node";
  } else if (result.network_pairs && choice.method != RedistributeMethod::messages) {
    result.name += "+messages";
    result.reason += "; messages between nodes";
  }
  return result;
}

Staging choose_staging(const Problem& problem, const Method& method) {
  Staging staging;
  const bool shared = method.uses_staging();
  const bool messages = method.uses_messages();
  const std::int64_t peers = shared ? largest_node(problem.topology) - 1 : 0;
  const std::int64_t bound = problem.options.staging_bytes;
  const std::int64_t least = (shared ? 2 * peers * cache_line : 0) + (messages ? 2 * cache_line : 0);
  check(bound == 0 || bound >= 2 * least, "staging_bytes is {}, but this redistribution needs at least {}",
        bound, 2 * least);
  const std::int64_t share = shared && messages ? bound / 2 : bound;
  const std::int64_t transfer = largest_transfer(problem);
  if (shared) choose_shared(staging, problem, share, transfer);
  if (messages) choose_private(staging, problem, share, transfer);
  if (!problem.accumulates) return staging;
  // Contributions meet piece by piece, whichever way each came: all ways cut alike.
  staging.piece = shared ? staging.chunk : largest_chunk;
  if (messages) staging.piece = std::min(staging.piece, staging.message);
  if (shared) staging.chunk = staging.piece;
  if (messages) staging.message = staging.piece;
  return staging;
}

}  // namespace partita::redistribution
