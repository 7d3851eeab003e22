#include "matmul/emit/stripes_price.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "matmul/dtypes.hpp"

namespace partita::multiplication {
namespace {

constexpr int most_stripes = 16;
constexpr double worth_stripes = 0.99;  // of the time by turns: less than that the model can tell apart
// Of the time by the model, as measured on two H100: 1.12 (D by rows, 8192^3), 1.05 (16384 x 28672 x
// 8192), 1.10 (on all ranks). This much compared with methods that keep to their prices, like the ring.
constexpr double longer_than_priced = 1.08;
// Engines move rows of fewer bytes one by one, so kernels do; those take from the concurrent products, for
// as long as they last.
constexpr double long_row = 4096;
constexpr double taken_by_kernels = 0.5;

// Of the rate of copies within a device.
constexpr double engines_share = 0.25;

// As measured on two H100 (docs/performance.md): a product in two k-steps concurrent with copies takes this
// much longer than one.
constexpr double begun_takes_longer = 0.05;

/// Of the ranks that have most of each.
struct Load {
  double product = 0;                      ///< seconds
  double own_share = 1;                    ///< of k; the least. 0: nothing can begin before the rest has come
  double first = 0, shared = 0;            ///< bytes that come: before the first stripe, and in shares
  double own_first = 0, own_shared = 0;    ///< of panels, what the rank has itself
  double read_first = 0, read_shared = 0;  ///< bytes of the factors
  double result = 0;                       ///< elements of D
  double delivered = 0;                    ///< bytes of D that go to each holder, over all of them
  double row = 0;                          ///< bytes of one in what is shared, if all of it were one stripe
  int givers = 1;
};

double bytes(std::int64_t elements, Dtype dtype) {
  return static_cast<double>(elements) * static_cast<double>(size_of(dtype));
}

/// Bytes that follow each other in a share of the operand that has all its lines; 0: any number.
double row_bytes(const HeldOperand& input, const Tile& tile, bool of_a) {
  const Extents& order = input.axis_order;
  const auto fastest = order[order.size() - 1];
  if (fastest != (of_a ? 0 : 1)) return 0;
  return bytes((of_a ? tile.m : tile.n).size(), input.dtype);
}

void raise(double& most, double value) {
  most = std::max(most, value);
}

class StripesPricer {
 public:
  StripesPricer(const Problem& problem, const std::vector<Tile>& tiles, bool of_rows)
      : machine_(problem.machine),
        sum_(static_cast<double>(size_of(problem.compute))),
        result_(static_cast<double>(size_of(problem.d.dtype))),
        depth_(static_cast<double>(problem.k())) {
    load_.givers = std::max(problem.ranks() - 1, 1);
    for (int rank = 0; rank < problem.ranks(); ++rank) add(problem, tiles, rank, of_rows);
  }

  /// Its `seconds` set.
  Stripes priced(Stripes stripes) const {
    const double count = stripes.count, share = 1 / count;
    const double work = product(stripes.count), link = machine_.peer_bandwidth;
    const double put = load_.shared * share / link + load_.givers * machine_.copy_latency;
    double arrived = machine_.signal_latency + load_.first / link, copied = 0;
    double now = stripes.begun * (work * load_.own_share + machine_.copy_latency), delivered = 0;
    const double all_put = arrived + count * put;
    for (int s = 0; s < stripes.count; ++s) {
      arrived += put;
      if (s >= stripes.begun) copied += own_copied(s == stripes.begun, share);
      now = std::max({now, arrived, copied});
      now += s < stripes.begun ? (1 - load_.own_share) * work + (again() + rounding()) * share : work;
      now += machine_.copy_latency;
      if (load_.delivered == 0) continue;
      delivered = std::max({delivered, now, all_put}) + load_.delivered * share / link +
                  load_.givers * machine_.copy_latency;
    }
    const double not_whole =
        stripes.begun * work * begun_takes_longer + (count - 1) * depth_ * idle_seconds_of_k;
    stripes.seconds = std::max(now, delivered) + not_whole + machine_.signal_latency;
    return stripes;
  }

  double by_turns() const {
    const double turns = load_.own_share > 0 ? std::round(1 / load_.own_share) : load_.givers + 1;
    const int moved_apart = (load_.first > 0) + (load_.shared > 0);
    const double moved = (load_.first + load_.shared) / machine_.peer_bandwidth +
                         moved_apart * load_.givers * machine_.copy_latency;
    double now = 0;
    for (double turn = 0; turn < turns; ++turn) {
      if (turn > 0) now = std::max(now, machine_.signal_latency + moved * turn / (turns - 1)) + again();
      now += load_.product / turns + machine_.copy_latency;
    }
    return now + rounding() + load_.delivered / machine_.peer_bandwidth + machine_.signal_latency;
  }

  /// That the smallest tile can be cut into.
  std::int64_t lines() const { return lines_; }
  bool can_begin() const { return load_.own_share > 0 && load_.own_share < 1; }

 private:
  void add(const Problem& problem, const std::vector<Tile>& tiles, int rank, bool of_rows) {
    const Tile& tile = tiles[static_cast<std::size_t>(rank)];
    if (tile.empty()) return;
    const Region d = region_of_d(tile);
    lines_ = std::min(lines_, (of_rows ? tile.m : tile.n).size());
    const double operations = operations_of(problem.compute);
    raise(load_.product, static_cast<double>(d.size()) * static_cast<double>(problem.k()) * operations /
                             machine_.product_flops(problem.a.dtype));
    raise(load_.result, static_cast<double>(d.size()));
    const double own = static_cast<double>(own_depth(problem, tiles, rank).size());
    load_.own_share = std::min(load_.own_share, own / static_cast<double>(problem.k()));
    if (problem.d.layout.is_replicated() && d.size() < problem.m() * problem.n()) {
      raise(load_.delivered, load_.givers * bytes(d.size(), problem.d.dtype));
    }
    for (const bool of_a : {true, false}) {
      const bool shared = of_a == of_rows;
      const HeldOperand& input = problem.input(of_a);
      const Region wanted = region_of(problem, tile, of_a);
      raise(shared ? load_.read_shared : load_.read_first, bytes(wanted.size(), input.dtype));
      if (!moves(problem, tiles, of_a)) continue;
      const std::int64_t held = common_size(wanted, input.held.by(rank));
      raise(shared ? load_.shared : load_.first, bytes(wanted.size() - held, input.dtype));
      raise(shared ? load_.own_shared : load_.own_first, bytes(held, input.dtype));
      if (shared) raise(load_.row, row_bytes(input, tile, of_a));
    }
  }

  /// One of so many.
  double product(int count) const {
    const double share = 1.0 / count;
    const double read = (load_.read_first + load_.read_shared * share) / memory();
    const bool by_kernels = load_.row > 0 && load_.row * share < long_row && count > 1;
    const double taken =
        by_kernels ? std::min(load_.product, load_.shared / machine_.peer_bandwidth) * taken_by_kernels : 0;
    return std::max((load_.product + taken) * share, read);
  }
  double memory() const { return 2 * machine_.copy_bandwidth; }  // a copy reads and writes
  /// The sums read and written again.
  double again() const { return not_hidden * 2 * load_.result * sum_ / memory(); }
  double rounding() const { return sum_ == result_ ? 0 : load_.result * (sum_ + result_) / memory(); }
  double own_copied(bool first, double share) const {
    const double bytes = (first ? load_.own_first : 0) + load_.own_shared * share;
    return machine_.copy_latency + bytes / (engines_share * machine_.copy_bandwidth);
  }

  const Machine& machine_;
  double sum_, result_;  // bytes of an element
  double depth_;         // indices of k
  Load load_;
  std::int64_t lines_ = std::numeric_limits<std::int64_t>::max();
};

/// Whether A moves more than B does.
bool a_moves_most(const Problem& problem, const std::vector<Tile>& tiles) {
  std::int64_t a = 0, b = 0;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile& tile = tiles[static_cast<std::size_t>(rank)];
    if (tile.empty()) continue;
    for (const bool of_a : {true, false}) {
      const Region wanted = region_of(problem, tile, of_a);
      (of_a ? a : b) += wanted.size() - common_size(wanted, problem.input(of_a).held.by(rank));
    }
  }
  return a > b;
}

}  // namespace

bool are_alike(std::int64_t lines, int count) {
  constexpr std::int64_t tile = 256;
  return lines % tile != 0 || lines / tile % count == 0;
}

std::optional<Stripes> cheapest_stripes(const Problem& problem, const std::vector<Tile>& tiles) {
  const bool of_rows = a_moves_most(problem, tiles);
  const StripesPricer price(problem, tiles, of_rows);
  std::optional<Stripes> best;
  for (int count = 1; count <= std::min(price.lines(), std::int64_t{most_stripes}); ++count) {
    if (!are_alike(price.lines(), count)) continue;
    for (int begun = 0; begun <= (price.can_begin() ? count : 0); ++begun) {
      const Stripes one = price.priced({of_rows, count, begun});
      if (!best || one.seconds < best->seconds) best = one;
    }
  }
  if (best->seconds > worth_stripes * price.by_turns()) return std::nullopt;
  best->seconds *= longer_than_priced;
  return best;
}

}  // namespace partita::multiplication
