#include "redistribute/rounds.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "base/round.hpp"
#include "base/units.hpp"
#include "redistribute/split.hpp"
#include "redistribute/walk.hpp"

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

class RoundsWalk {
 public:
  RoundsWalk(const Problem& problem, const Rounds& rounds, planning::PlanBuilder& builder)
      : problem_(problem), rounds_(rounds), builder_(builder) {}

  std::vector<int> run(const std::vector<Exchange>& parts) {
    std::vector<int> begins;
    for (const Exchange& part : parts) {
      begins.push_back(static_cast<int>(builder_.plan().steps.size()));
      run(part, static_cast<std::int64_t>(begins.size() - 1) * most_rounds_of_a_part);
    }
    unpack();
    for (std::vector<int>& messages : sent_) builder_.finish(std::move(messages));
    return begins;
  }

 private:
  struct Piece {
    int peer = 0;
    int contribution = 0;
    Region region;
    Place place = {};  // of what has come; the source: it is the rank's own
    std::vector<int> after = {};
  };
  using ByRound = std::vector<std::vector<Piece>>;
  // Both ends number rounds alike although they may have different numbers of them.
  static constexpr std::int64_t most_rounds_of_a_part = std::int64_t{1} << 20;

  void run(const Exchange& part, std::int64_t first_round) {
    if (part.identity) {
      builder_.fill(problem_.destination.layout.partial()->reduction, *part.identity,
                    builder_.own(destination_buffer));
    }
    ByRound given, taken;
    for (const Transfer& transfer : part.outgoing) cut(transfer, given);
    for (const Transfer& transfer : part.incoming) {
      if (transfer.peer != problem_.rank || problem_.accumulates) cut(transfer, taken);
    }
    const std::size_t count = std::max(given.size(), taken.size());
    given.resize(count);
    taken.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
      round(given[k], std::move(taken[k]), first_round + static_cast<std::int64_t>(k));
      if (k == 0) keep(part);
    }
    if (count == 0) keep(part);
  }

  /// What stays on the rank waits for nobody, unless contributions have to be joined in their order. It has
  /// time until the first messages have come.
  void keep(const Exchange& part) {
    for (const Transfer& transfer : part.incoming) {
      if (transfer.peer != problem_.rank || problem_.accumulates) continue;
      builder_.copy(problem_.rank, transfer.region, builder_.own(source_buffer),
                    builder_.own(destination_buffer));
    }
  }

  // By the extents of the transfer alone, so alike at both ends, and for all contributions to a region.
  void cut(const Transfer& transfer, ByRound& rounds) const {
    const std::int64_t most = ceil_divide(transfer.region.size(), rounds_.count);
    std::vector<Region> pieces = split(transfer.region, std::max<std::int64_t>(most, 1),
                                       problem_.source.axis_order, problem_.destination.axis_order);
    if (rounds.size() < pieces.size()) rounds.resize(pieces.size());
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      rounds[k].push_back({transfer.peer, transfer.contribution, std::move(pieces[k])});
    }
  }

  void round(std::vector<Piece>& given, std::vector<Piece> taken, std::int64_t number) {
    const std::size_t half = turn_++ % static_cast<std::size_t>(rounds_.halves);
    receive(taken, half, number);
    send(given, half, number);
    unpack();
    arrived_ = std::move(taken);
  }

  void receive(std::vector<Piece>& taken, std::size_t half, std::int64_t number) {
    std::int64_t offset = (rounds_.halves + static_cast<std::int64_t>(half)) * rounds_.half_bytes;
    for (Piece& piece : taken) {
      piece.place = builder_.own(source_buffer);
      if (piece.peer == problem_.rank) continue;
      piece.place = room(offset);
      offset += round_up(problem_.bytes(piece.region), cache_line);
      piece.after.push_back(builder_.receive(piece.peer, piece.place, problem_.bytes(piece.region), number));
    }
  }

  void send(std::vector<Piece>& given, std::size_t half, std::int64_t number) {
    std::vector<int> before = std::exchange(sent_[half], {});
    std::int64_t offset = static_cast<std::int64_t>(half) * rounds_.half_bytes;
    std::vector<Place> packed;
    for (Piece& piece : given) {
      packed.push_back(room(offset));
      offset += round_up(problem_.bytes(piece.region), cache_line);
      builder_.copy(problem_.rank, piece.region, builder_.own(source_buffer), packed.back(),
                    std::exchange(before, {}));
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      sent_[half].push_back(builder_.send(given[i].peer, packed[i], problem_.bytes(given[i].region), number));
    }
    if (given.empty()) sent_[half] = std::move(before);
  }

  // In the order of contributions, in which transfers come.
  void unpack() {
    for (Piece& piece : arrived_) {
      deliver(problem_, piece.peer, piece.contribution, std::move(piece.region), piece.place,
              std::move(piece.after), builder_);
    }
    arrived_.clear();
  }

  Place room(std::int64_t offset) const {
    return {private_buffer, problem_.rank, offset, problem_.source.axis_order};
  }

  const Problem& problem_;
  const Rounds& rounds_;
  planning::PlanBuilder& builder_;
  std::vector<Piece> arrived_;              // of the round before
  std::array<std::vector<int>, 2> sent_{};  // messages of each half that have not been waited for
  std::size_t turn_ = 0;
};

/// Of scratch, beside the bytes themselves.
std::int64_t slack_of(const Problem& problem) {
  return problem.topology.ranks() * (problem.item_bytes() + cache_line);
}

}  // namespace

bool fits_rounds(const Problem& problem) {
  const std::int64_t bound = problem.options.staging_bytes;
  return bound == 0 || bound / 4 >= 2 * slack_of(problem);
}

// What a rank gives is its part once for each replica of the destination, what it takes its part once for
// each contribution. Of a transfer of n elements a round takes n / count, rounded up; so of a rank's bytes it
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

std::vector<int> walk_rounds(const Problem& problem, const Rounds& rounds, const std::vector<Exchange>& parts,
                             planning::PlanBuilder& builder) {
  return RoundsWalk(problem, rounds, builder).run(parts);
}

}  // namespace partita::redistribution
