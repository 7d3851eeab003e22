#include "matmul/ring.hpp"

#include <algorithm>

#include "matmul/assembly.hpp"
#include "matmul/scratch_account.hpp"
#include "matmul/stripes_price.hpp"

namespace partita::multiplication {
namespace {

constexpr int most_pieces = 8;
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

/// Whether each element of D has one holder, or lies on all ranks, which can put it to each other.
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
    const double operations = is_complex(problem.compute) ? 8 : 2;
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

  double by_ring(int pieces) const {
    const double product = std::max(load_.product / pieces, load_.factors / memory()) + machine_.copy_latency,
                 put = load_.part * item_ / pieces / machine_.peer_bandwidth + machine_.copy_latency;
    std::vector<double> arrived(static_cast<std::size_t>(pieces));
    double now = 0, link = 0;
    for (int step = 0; step < ranks_; ++step) {
      for (double& piece : arrived) {
        now = std::max(now, piece) + product;
        const bool is_last = step + 1 == ranks_;
        if (is_last && !load_.delivers) continue;
        link = std::max(link, now) + put * (is_last ? ranks_ - 1 : 1);
        piece = link + machine_.signal_latency;
      }
    }
    return std::max(now, link) + (ranks_ * pieces - 1) * load_.depth * idle_seconds_of_k +
           machine_.signal_latency;
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

Layout layout_summed(const Problem& problem) {
  return problem.d.layout.is_replicated() ? slabs(problem.d.layout, problem.batches()) : problem.d.layout;
}

int holder_at(int rank, int step, int ranks) {
  return (rank - 1 - step + 2 * ranks) % ranks;
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
  Ring best{1, price.by_ring(1)};
  for (int pieces = 2; pieces <= most_pieces; ++pieces) {
    const double seconds = price.by_ring(pieces);
    if (seconds < best.seconds && price.makes_alike(pieces)) best = {pieces, seconds};
  }
  if (best.seconds > price.at_once()) return std::nullopt;
  return best;
}

}  // namespace partita::multiplication
