// The one place where the grid and the blocks of a factorization are chosen.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/round.hpp"
#include "linalg/panels.hpp"
#include "plan/cost.hpp"

namespace partita::linear {
namespace {

// One rank factorizes the whole matrix as one panel: the library chooses blocks for its caches. So it does
// with small ones, since handing over panels takes longer than what the other ranks would compute. Narrow
// panels shorten the time in which one rank works alone, wide ones make products faster.
// The libraries of devices factorize in full precision only, so that TF32 is used by products between panels.
constexpr std::int64_t most_on_one_rank = 256, width_on_devices = 512;

std::int64_t default_width(const Panels& panels, MemorySpace space, ComputeType compute) {
  const bool by_products = space == MemorySpace::device && compute == ComputeType::tf32;
  if (panels.ranks == 1 && !by_products) return std::max<std::int64_t>(panels.columns, 1);
  if (space == MemorySpace::device) return width_on_devices;
  if (panels.columns <= most_on_one_rank && panels.rows <= most_on_one_rank)
    return std::max<std::int64_t>(panels.columns, 1);
  return std::clamp<std::int64_t>(panels.least() / 32, 64, 128);
}

/// Predicted seconds of a Cholesky or LU factorization, of a rank in the middle of the grid. In each
/// iteration products, messages and the next panel go on concurrently, and the longest of them counts:
///
///     products  2 b operations for each element of the rank's trailing matrix, at b/(b + 16) of the rate of
///               products (on devices b/(b + 64); an estimate), and copies of what arrives from the same node
///     messages  b columns of the rank's rows and of the rows that are its columns, one of two of them or
///               both from other nodes; the ranks of a node share its link
///     panel     Cholesky: the block on the diagonal at half the rate of products, the rank's rows of the
///               panel, and two messages of a block along the grid's column. LU: the rank's rows twice, once
///               at half the rate, and the matches of the tournament, each of two blocks and one message.
///               Whole columns: all rows at half the rate
class GridPrice {
 public:
  GridPrice(Factorization kind, const Panels& panels, const Operand& a, const Topology& topology,
            const Machine& machine)
      : kind_(kind),
        panels_(panels),
        machine_(machine),
        item_(static_cast<double>(size_of(a.dtype))),
        operations_(is_complex(a.dtype) ? 4 : 1),
        rate_(machine.product_flops(a.dtype)),
        sharers_(planning::ranks_on_node(topology, 0)),
        memory_(a.space == MemorySpace::device
                    ? machine.copy_bandwidth
                    : std::min(machine.copy_bandwidth, machine.node_copy_bandwidth / sharers_)),
        unused_(a.space == MemorySpace::device ? 64 : 16),
        one_node_(topology.node_count() == 1) {}

  double seconds() const {
    constexpr int most_samples = 64;
    const int count = panels_.count(), samples = std::min(count, most_samples);
    double sum = 0;
    for (int i = 0; i < samples; ++i) {
      const double rest = static_cast<double>(panels_.rows) * (1 - (i + 0.5) / samples);
      sum += iteration(rest) * count / samples;
    }
    return sum;
  }

 private:
  double iteration(double rest) const {
    const auto width = static_cast<double>(panels_.width);
    const double rows = share(rest, panels_.grid_rows), columns = share(rest, panels_.grid_columns());
    const double trailing = rows * columns / (kind_ == Factorization::cholesky ? 2 : 1);
    const double products = 2 * operations_ * (width + unused_) * trailing / rate_;
    const double of_rows = width * rows * item_, of_columns = width * columns * item_;
    const double far_rows = between_nodes(1, panels_.grid_columns()) * of_rows;
    const double far_columns =
        panels_.on_grid() ? between_nodes(panels_.grid_columns(), panels_.grid_rows) * of_columns : 0;
    const double near = of_rows + (panels_.on_grid() ? of_columns : 0) - far_rows - far_columns;
    const double network = (far_rows + far_columns) * sharers_ / machine_.network_bandwidth;
    return std::max({products + near / memory_, network, panel(rows)}) + latency();
  }

  double panel(double rows) const {
    const auto width = static_cast<double>(panels_.width);
    const double half_rate = rate_ / 2;
    if (!panels_.on_grid()) return operations_ * width * width * rows / half_rate;
    const double square = operations_ * width * width;
    const double block =
        width * width * item_ /
        (one_node_ ? planning::message_bandwidth(true, machine_) : machine_.network_bandwidth / sharers_);
    if (kind_ == Factorization::cholesky) return square * (width / 3 / half_rate + rows / rate_) + 2 * block;
    return square * rows * (1 / half_rate + 1 / rate_) +
           matches() * (2 * square * width / half_rate + block) + 2 * block;
  }

  /// The depth of the tree of a tournament.
  double matches() const { return std::ceil(std::log2(static_cast<double>(panels_.grid_rows))); }

  double latency() const {
    const bool tournament = panels_.on_grid() && kind_ == Factorization::lu;
    const double messages = (panels_.on_grid() ? 4 : 2) + (tournament ? matches() + panels_.grid_rows : 0);
    return messages * (one_node_ ? machine_.signal_latency : machine_.network_latency);
  }

  /// What the busiest of so many ranks has of `extent`.
  double share(double extent, int ranks) const {
    const auto width = static_cast<double>(panels_.width);
    return std::min(extent, extent / ranks + width / 2 * (ranks > 1 ? 1 : 0));
  }

  /// The share of what a rank receives along a line of ranks, `distance` apart, that comes from another node.
  double between_nodes(int distance, int ranks) const {
    if (one_node_ || ranks == 1) return 0;
    const double on_node = std::clamp<double>(sharers_ / distance, 1, ranks);
    return on_node == ranks ? 0 : 1 / on_node;
  }

  Factorization kind_;
  const Panels& panels_;
  const Machine& machine_;
  double item_, operations_, rate_, sharers_, memory_, unused_;
  bool one_node_;
};

}  // namespace

Panels whole_columns(const Operand& a, ComputeType compute) {
  Panels panels{a.layout.shape()[0], a.layout.shape()[1], 1, a.layout.ranks()};
  panels.width = default_width(panels, a.space, compute);
  return panels;
}

Panels narrowed(Panels panels, const Operand& a, const Topology& topology, std::int64_t limit) {
  constexpr std::int64_t least_width = 16;
  if (panels.on_grid() || panels.ranks == 1) return panels;
  // Two at a time, which PanelTransport keeps in slots on devices and in messages between nodes.
  const int kept = (a.space == MemorySpace::device ? 2 : 0) + (topology.node_count() > 1 ? 2 : 0);
  const auto bytes = [&] { return kept * (panels.rows + 2) * panels.width * size_of(a.dtype); };
  while (panels.width > least_width && bytes() > limit) panels.width /= 2;
  return panels;
}

bool may_have_grid(Factorization kind, const Operand& a, const FactorOptions& options) {
  if (kind == Factorization::cholesky) return true;
  return kind == Factorization::lu && a.space == MemorySpace::host && options.pivoting != Pivoting::partial;
}

bool looks_for_grid(Factorization kind, const Operand& a, const FactorOptions& options,
                    const Topology& topology) {
  const bool asked = kind == Factorization::lu && options.pivoting == Pivoting::tournament;
  return may_have_grid(kind, a, options) && (topology.node_count() > 1 || asked);
}

Panels choose_panels(Factorization kind, const Panels& wanted, const Operand& a, const FactorOptions& options,
                     const Topology& topology, const Machine& machine) {
  Panels best = wanted;
  best.grid_rows = 1;
  if (best.width == 0) best = whole_columns(a, options.compute);
  const bool gains = wanted.grid_rows > 1 || (looks_for_grid(kind, a, options, topology) && best.count() > 1);
  if (wanted.least() == 0 || wanted.grid_rows == 1 || !gains) return best;
  double least = wanted.grid_rows > 1 ? std::numeric_limits<double>::infinity()
                                      : GridPrice(kind, best, a, topology, machine).seconds();
  constexpr std::array<std::int64_t, 4> on_host{64, 128, 256, 512}, on_device{256, 512, 1024, 2048};
  for (int rows = 2; rows <= wanted.ranks; ++rows) {
    if (wanted.ranks % rows != 0) continue;
    if (wanted.grid_rows == 0 ? rows * rows > wanted.ranks : rows != wanted.grid_rows) continue;
    for (const std::int64_t width : a.space == MemorySpace::device ? on_device : on_host) {
      Panels one = wanted;
      one.grid_rows = rows;
      if (wanted.width == 0) one.width = width;
      const double seconds = GridPrice(kind, one, a, topology, machine).seconds();
      if (seconds < least) {
        best = one;
        least = seconds;
      }
    }
  }
  return best;
}

}  // namespace partita::linear
