#include "redistribute/rounds.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/round.hpp"
#include "base/units.hpp"
#include "redistribute/split.hpp"

namespace partita::redistribution {
namespace {

// A group costs some thirty microseconds, as long as it takes to pack 64 MiB, so one round is best as far as
// there is scratch for it; it needs half as much as several do (docs/performance.md).
constexpr std::int64_t most_of_one_round = 256 * mebibyte;
constexpr std::int64_t most_of_several = 128 * mebibyte;

/// Of every element of a layout.
struct Holders {
  std::int64_t contributions = 1;
  std::int64_t replicas = 1;  ///< of a contribution
};

Holders holders(const Layout& layout) {
  Holders most;
  if (volume(layout.shape()) == 0) return most;
  const Index first = Extents::filled(layout.dimensions(), 0);
  for (const Layout::Cell& cell : layout.cells(layout.region(layout.owner(first)))) {
    most.contributions = std::max(most.contributions, static_cast<std::int64_t>(cell.contributions.size()));
    for (const std::vector<int>& ranks : cell.contributions) {
      most.replicas = std::max(most.replicas, static_cast<std::int64_t>(ranks.size()));
    }
  }
  return most;
}

/// The transfers of a part, by round.
class ByRound {
 public:
  ByRound(const Problem& problem, const Rounds& rounds, const Exchange& part)
      : problem_(problem), rounds_(rounds) {
    for (const Overlap& overlap : part.outgoing) cut(planning::TransferEnd::send, overlap, given);
    for (const Overlap& overlap : part.incoming) {
      if (overlap.peer != problem.rank) {
        cut(planning::TransferEnd::post, overlap, taken);
      } else if (problem.accumulates) {
        cut(planning::TransferEnd::keep, overlap, taken);
      }
    }
    const std::size_t count = std::max(given.size(), taken.size());
    given.resize(count);
    taken.resize(count);
  }

  std::vector<std::vector<planning::Transfer>> given, taken;

 private:
  // By the extents of the overlap alone, so alike at both ends, and for all contributions to a region.
  void cut(planning::TransferEnd end, const Overlap& overlap,
           std::vector<std::vector<planning::Transfer>>& rounds) const {
    const std::int64_t most = ceil_divide(overlap.region.size(), rounds_.count);
    std::vector<Region> pieces = split(overlap.region, std::max<std::int64_t>(most, 1),
                                       problem_.source.axis_order, problem_.destination.axis_order);
    if (rounds.size() < pieces.size()) rounds.resize(pieces.size());
    const Place from{source_buffer, problem_.rank, 0, {}}, to{destination_buffer, problem_.rank, 0, {}};
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      rounds[k].push_back(
          {end, overlap.peer, std::move(pieces[k]), from, to, problem_.reduction(overlap.contribution)});
    }
  }

  const Problem& problem_;
  const Rounds& rounds_;
};

/// What stays on the rank waits for no peer, unless contributions have to be reduced in their order.
void keep(const Problem& problem, const Exchange& part, planning::PlanBuilder& builder) {
  for (const Overlap& overlap : part.incoming) {
    if (overlap.peer != problem.rank || problem.accumulates) continue;
    builder.copy(problem.rank, overlap.region, builder.own(source_buffer), builder.own(destination_buffer));
  }
}

/// Scratch in addition to the bytes themselves.
std::int64_t slack_of(const Problem& problem) {
  return problem.topology.ranks() * (problem.item_bytes() + cache_line);
}

}  // namespace

bool fits_rounds(const Problem& problem) {
  const std::int64_t bound = problem.options.staging_bytes;
  return bound == 0 || bound / 4 >= 2 * slack_of(problem);
}

// What a rank gives is its part once for each replica of the destination, what it takes its part once for
// each contribution. Of an overlap of n elements a round takes n / count, rounded up; so of a rank's bytes it
// takes that share, and at most an element and a line more for each peer.
Rounds choose_rounds(const Problem& problem, std::size_t parts) {
  const std::int64_t item = problem.item_bytes();
  const std::int64_t slack = slack_of(problem);
  const std::int64_t given =
      problem.source.layout.largest_local_size() * holders(problem.destination.layout).replicas;
  const std::int64_t taken = problem.destination.layout.largest_local_size() *
                             (problem.accumulates ? holders(problem.source.layout).contributions : 1);
  const std::int64_t largest = item * std::max({given, taken, std::int64_t{1}});
  const std::int64_t bound = problem.options.staging_bytes;
  check(fits_rounds(problem), "staging_bytes is {}, but this redistribution needs at least {}", bound,
        8 * slack);
  std::int64_t room = slack + (largest <= most_of_one_round ? most_of_one_round : most_of_several);
  if (bound > 0) room = std::clamp(round_down(bound / 4, cache_line), 2 * slack, room);
  Rounds rounds;
  rounds.count = ceil_divide(largest, room - slack);
  if (rounds.count == 1 && parts == 1) rounds.halves = 1;
  rounds.half_bytes = round_up(ceil_divide(largest, rounds.count) + slack, cache_line);
  return rounds;
}

std::vector<int> write_rounds(const Problem& problem, const Rounds& rounds,
                              const std::vector<Exchange>& parts, planning::PlanBuilder& builder) {
  // Both ends number rounds alike although they may have different numbers of them.
  constexpr std::int64_t most_rounds_of_a_part = std::int64_t{1} << 20;
  planning::TransferScratch scratch{problem.source.axis_order, problem.item_bytes()};
  scratch.messages = private_buffer;
  planning::GroupWriter writer(builder, scratch, rounds.half_bytes, rounds.halves);
  std::vector<int> begins;
  for (const Exchange& part : parts) {
    const auto first = static_cast<std::int64_t>(begins.size()) * most_rounds_of_a_part;
    begins.push_back(static_cast<int>(builder.plan().steps.size()));
    fill_identity(problem, part, builder);
    ByRound lists(problem, rounds, part);
    for (std::size_t k = 0; k < lists.given.size(); ++k) {
      writer.write(std::move(lists.given[k]), std::move(lists.taken[k]),
                   first + static_cast<std::int64_t>(k));
      if (k == 0) keep(problem, part, builder);  // while the first messages are in flight
    }
    if (lists.given.empty()) keep(problem, part, builder);
  }
  writer.close();
  return begins;
}

}  // namespace partita::redistribution
