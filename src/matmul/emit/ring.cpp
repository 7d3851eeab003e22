#include "matmul/emit/ring.hpp"

#include <algorithm>

#include "matmul/choose/scratch_account.hpp"
#include "matmul/dtypes.hpp"
#include "matmul/emit/assembly.hpp"
#include "matmul/emit/puts.hpp"
#include "matmul/emit/stripes_price.hpp"

namespace partita::multiplication {
namespace {

constexpr int most_pieces = 8, most_chains = 8;
constexpr double added_in_memory = 1.5;  // of a copy: two read, one written

bool is_box(const Region& region) {
  return std::ranges::all_of(region.sets, &IndexSet::is_range);
}

/// Whether each rank multiplies for all of D, by what it holds of A and B.
bool multiplies_for_all(const Problem& problem, const std::vector<Tile>& tiles) {
  if (moves(problem, tiles, true) || moves(problem, tiles, false)) return false;
  return std::ranges::all_of(tiles, [&](const Tile& tile) {
    return !tile.empty() && tile.m.size() == problem.m() && tile.n.size() == problem.n() &&
           tile.k.size() < problem.k();
  });
}

/// Whether each element of D has one holder, or is held by all ranks, which can put it to each other.
bool suits(const Operand& d) {
  if (d.layout.partial()) return false;
  return d.layout.is_replicated() ? readable_in_place(d) : true;
}

bool sums_in_a_ring(const Problem& problem, const std::vector<Tile>& tiles) {
  if (!may_pipeline(problem) || problem.ranks() == 1 || problem.d.dtype != problem.reduced) return false;
  if (!suits(problem.d) || !multiplies_for_all(problem, tiles)) return false;
  const Layout summed = layout_summed(problem);
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    if (!is_box(summed.region(rank))) return false;
  }
  return true;
}

/// Of the ranks that have most of each.
struct RingLoad {
  double product = 0;     ///< seconds of one for a part
  double factors = 0;     ///< bytes that one reads
  double part = 0;        ///< elements
  double depth = 0;       ///< indices of k
  bool delivers = false;  ///< parts go to all ranks when they are summed
};

class RingPricer {
 public:
  RingPricer(const Problem& problem, const std::vector<Tile>& tiles)
      : machine_(problem.machine),
        ranks_(problem.ranks()),
        sum_(static_cast<double>(size_of(problem.compute))),
        item_(static_cast<double>(size_of(problem.d.dtype))) {
    const double operations = operations_of(problem.compute);
    const auto factor = static_cast<double>(size_of(problem.a.dtype));
    for (const Tile& tile : tiles) load_.depth = std::max(load_.depth, static_cast<double>(tile.k.size()));
    const Layout summed = layout_summed(problem);
    for (int rank = 0; rank < ranks_; ++rank) {
      const Shape part = summed.local_shape(rank);
      load_.part = std::max(load_.part, static_cast<double>(volume(part)));
      lines_.push_back(std::max(part[0], part[1]));
      load_.factors = std::max(load_.factors, factor * load_.depth * static_cast<double>(part[0] + part[1]));
    }
    load_.product = load_.part * load_.depth * operations / machine_.product_flops(problem.a.dtype);
    load_.delivers = problem.d.layout.is_replicated();
  }

  bool makes_alike(int pieces) const {
    return std::ranges::all_of(lines_, [&](std::int64_t lines) { return are_alike(lines, pieces); });
  }

  bool may_part_in_chains() const { return worth_starts(machine_, load_.part * item_, 1); }

  double by_ring(const Ring& ring) const {
    const RingSchedule schedule(ranks_, ring.chains);
    const double bytes = load_.part * item_ / ring.pieces;
    const double product = std::max(load_.product / ring.pieces, load_.factors / memory()) +
                           load_.depth * idle_seconds_of_k + machine_.copy_latency;
    const double onto = product + bytes / memory(), pass = 3 * bytes / memory() + machine_.copy_latency,
                 put = bytes / machine_.peer_bandwidth + machine_.copy_latency;
    const auto pieces = static_cast<std::size_t>(ring.pieces);
    std::vector<std::vector<double>> arrived(static_cast<std::size_t>(ranks_), std::vector<double>(pieces));
    double now = 0, link = 0;
    for (const int distance : schedule.distances()) {
      const auto d = static_cast<std::size_t>(distance);
      for (std::size_t i = 0; i < pieces; ++i) {
        now = schedule.begins(distance) ? now + product : std::max(now, arrived[d - 1][i]) + onto;
        link = std::max(link, now) + put;
        arrived[d][i] = link + machine_.signal_latency;
      }
    }
    std::vector<double> made(pieces);
    for (const int end : schedule.ends()) {
      const bool is_first = end == schedule.ends().front();
      for (std::size_t i = 0; i < pieces; ++i) {
        now = std::max(now, arrived[static_cast<std::size_t>(end)][i]) + (is_first ? onto : pass);
        made[i] = now;
      }
    }
    for (std::size_t i = 0; load_.delivers && i < pieces; ++i) {
      link = std::max(link, made[i]) + put * (ranks_ - 1);
    }
    return std::max(now, link) + machine_.signal_latency;
  }

  /// All products go to the holder, in the compute dtype, which adds them, and rounds.
  double at_once() const {
    const double others = ranks_ - 1;
    const double product = std::max(load_.product, load_.factors / memory()) + machine_.copy_latency;
    const double link =
        product + others * (load_.part * sum_ / machine_.peer_bandwidth + machine_.copy_latency);
    const double joined =
        others * (added_in_memory * load_.part * sum_ / machine_.copy_bandwidth + machine_.copy_latency);
    const double rounded = sum_ == item_ ? 0 : load_.part * (sum_ + item_) / memory() + machine_.copy_latency;
    const double delivered =
        load_.delivers ? others * load_.part * item_ / machine_.peer_bandwidth + machine_.copy_latency : 0;
    return std::max(ranks_ * product, link) + joined + rounded + delivered + 2 * machine_.signal_latency;
  }

 private:
  double memory() const { return 2 * machine_.copy_bandwidth; }  // a copy reads and writes

  const Machine& machine_;
  int ranks_;
  double sum_, item_;  // bytes of an element
  RingLoad load_;
  std::vector<std::int64_t> lines_;  // that parts are cut along
};

}  // namespace

RingSchedule::RingSchedule(int ranks, int chains) : begins_(static_cast<std::size_t>(ranks)) {
  std::vector<std::vector<int>> all(static_cast<std::size_t>(chains));
  int distance = 0;
  for (int number = 0; number < chains; ++number) {
    std::vector<int>& chain = all[static_cast<std::size_t>(number)];
    const int length = (ranks - 1) / chains + (number < (ranks - 1) % chains ? 1 : 0);
    while (static_cast<int>(chain.size()) < length) chain.push_back(++distance);
    begins_[static_cast<std::size_t>(chain.front())] = true;
  }
  for (std::size_t place = 0; place < all.front().size(); ++place) {
    for (const std::vector<int>& chain : all) {
      if (place >= chain.size()) continue;
      distances_.push_back(chain[place]);
      if (place + 1 == chain.size()) ends_.push_back(chain[place]);
    }
  }
}

bool RingSchedule::ends(int distance) const {
  return std::ranges::find(ends_, distance) != ends_.end();
}

Layout layout_summed(const Problem& problem) {
  return problem.d.layout.is_replicated() ? slabs(problem.d.layout, problem.batches()) : problem.d.layout;
}

Region piece_of(const Region& part, const Ring& ring, int number) {
  if (part.empty()) return part;
  Region piece = part;
  IndexSet& lines = piece.sets[part.sets[0].size() >= part.sets[1].size() ? 0 : 1];
  lines = share_of_lines(lines, ring.pieces, number);
  return piece;
}

std::optional<Ring> find_ring(const Problem& problem, const std::vector<Tile>& tiles) {
  if (!sums_in_a_ring(problem, tiles)) return std::nullopt;
  const RingPricer price(problem, tiles);
  const int chains_at_most = price.may_part_in_chains() ? std::min(problem.ranks() - 1, most_chains) : 1;
  std::optional<Ring> best;
  for (int chains = 1; chains <= chains_at_most; ++chains) {
    for (int pieces = 1; pieces <= most_pieces; ++pieces) {
      if (pieces > 1 && !price.makes_alike(pieces)) continue;
      Ring one{pieces, chains};
      one.seconds = price.by_ring(one);
      if (!best || one.seconds < best->seconds) best = one;
    }
  }
  if (best->seconds > price.at_once()) return std::nullopt;
  return best;
}

}  // namespace partita::multiplication
