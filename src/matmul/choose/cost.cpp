#include "matmul/choose/cost.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "matmul/choose/scratch_account.hpp"
#include "matmul/dtypes.hpp"
#include "matmul/emit/puts.hpp"
#include "matmul/emit/ring.hpp"
#include "matmul/emit/stripes.hpp"
#include "matmul/emit/stripes_price.hpp"

namespace partita::multiplication {
namespace {

constexpr int most_samples = 16;
constexpr int most_mates = 8;
constexpr double in_place = 0.125;      // of a copy: BLAS reads the operand anyway, but from further away
constexpr double joining = 1.5;         // of a copy: two read, one written
constexpr double not_overlapped = 0.1;  // of the shorter one of multiplying and messages

double size(const Region& region) {
  return static_cast<double>(region.size());
}
double bytes(Dtype dtype) {
  return static_cast<double>(size_of(dtype));
}

/// A rank that is examined, with some of the other ranks of its node.
struct SampledRank {
  int rank = 0;
  double sharers = 1;       ///< ranks of its node
  std::vector<int> mates;   ///< empty within one node
  double mates_weight = 1;  ///< how many ranks each of them represents
};

/// All ranks, or some in golden-section order: no mesh's rows or columns repeat in it.
std::vector<SampledRank> samples_of(const Topology& topology) {
  constexpr double golden = 0.6180339887498949;
  std::vector<SampledRank> samples(static_cast<std::size_t>(std::min(topology.ranks(), most_samples)));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    SampledRank& sample = samples[i];
    const double place = static_cast<double>(i) * golden;
    sample.rank = topology.ranks() <= most_samples
                      ? static_cast<int>(i)
                      : static_cast<int>((place - std::floor(place)) * topology.ranks());
    std::vector<int> mates = topology.node_ranks(topology.node(sample.rank));
    sample.sharers = static_cast<double>(mates.size());
    if (topology.node_count() == 1 || mates.size() == 1) continue;
    std::erase(mates, sample.rank);
    const std::size_t count = std::min<std::size_t>(mates.size(), most_mates);
    for (std::size_t j = 0; j < count; ++j) sample.mates.push_back(mates[j * mates.size() / count]);
    sample.mates_weight = static_cast<double>(mates.size()) / static_cast<double>(count);
  }
  return samples;
}

/// Elements of an operand that a rank works on, by where they are: its own, on its node, on other nodes. Or
/// the cost of each.
struct Share {
  double own = 0;
  double near = 0;
  double far = 0;
};

/// `copies`: how many ranks each element is needed from or sent to.
Share share(const Problem& problem, const SampledRank& sample, const OwnedRegions& held, const Region& wanted,
            double copies) {
  Share share;
  share.own = static_cast<double>(common_size(wanted, held.by(sample.rank)));
  const double others = std::max(0.0, copies * size(wanted) - share.own);
  for (const int mate : sample.mates)
    share.near += sample.mates_weight * static_cast<double>(common_size(wanted, held.by(mate)));
  share.near = problem.topology.node_count() == 1 ? others : std::min(share.near, others);
  share.far = others - share.near;
  return share;
}

/// Bytes and messages of what a rank receives and sends.
struct Transfer {
  double copied = 0;   ///< bytes through the node's memory, weighted
  double network = 0;  ///< bytes
  double latency = 0;  ///< seconds
  double owners = 0;   ///< on this node, from whom it comes or to whom it is sent, if each holds as much as
                       ///< the largest part

  void add(const Machine& machine, const Operand& operand, Dtype dtype, const Share& share,
           const Share& weights) {
    const auto largest = static_cast<double>(std::max<std::int64_t>(1, operand.layout.largest_local_size()));
    copied += (weights.own * share.own + weights.near * share.near + weights.far * share.far) * bytes(dtype);
    network += share.far * bytes(dtype);
    const double near = std::ceil(share.near / largest);
    owners += near;
    latency += near * machine.signal_latency + std::ceil(share.far / largest) * machine.network_latency;
  }
};

/// Of what is received.
Share weights_of(const Problem& problem, const Operand& operand) {
  if (problem.on_device()) return {0, 1, 0};
  const bool converted = operand.dtype != problem.compute;
  const double near = !readable_in_place(operand) ? 2 : converted ? 1 : in_place;
  return {converted ? 1.0 : 0.0, near, 1};
}

/// Into about how many pieces the layout cuts a dimension of the region: its length over what the owner of
/// its first element holds of it.
double pieces_along(const Operand& operand, const Region& region, std::size_t back) {
  if (region.empty()) return 1;
  const std::size_t dimension = region.sets.size() - back;
  const Region held = operand.layout.region(operand.layout.owner(front(region)));
  const auto common = intersect(region.sets[dimension], held.sets[dimension]).size();
  return static_cast<double>(region.sets[dimension].size()) /
         static_cast<double>(std::max<std::int64_t>(common, 1));
}

/// What a tile multiplies.
struct TileRegions {
  Region a, b, d;
  double depth;

  double multiplications() const { return size(d) * depth; }
};

/// Seconds of a host's products. A tile is multiplied piece by piece, each with one owner in A, B and D: BLAS
/// packs every piece of A once for each piece of n, ...
double multiply_on_host(const Problem& problem, const TileRegions& regions, double bandwidth) {
  const double m = std::max(pieces_along(problem.a, regions.a, 2), pieces_along(problem.d, regions.d, 2));
  const double n = std::max(pieces_along(problem.b, regions.b, 1), pieces_along(problem.d, regions.d, 1));
  const double k = std::max(pieces_along(problem.a, regions.a, 1), pieces_along(problem.b, regions.b, 2));
  const double packed = n * size(regions.a) + m * size(regions.b) + 2 * k * size(regions.d);
  const Dtype compute = problem.compute;
  const bool single = compute == Dtype::f32 || compute == Dtype::c64 || compute == Dtype::i32;
  const double flops = operations_of(compute) / (single ? 2 : 1);  // Machine::flops counts those of f64
  return regions.multiplications() * flops / problem.machine.flops + packed * bytes(compute) / bandwidth;
}

/// Of a device's products. Its BLAS packs nothing; where there are few rows or columns, it takes as long as
/// reading the factors. Several products of one sum, of this rank or of several, are added in memory and
/// rounded in a pass afterwards; each further one of this rank is a launch, and a pass over the sums, most of
/// which its multiplications hide.
double multiply_on_device(const Problem& problem, const TileRegions& regions) {
  const Machine& machine = problem.machine;
  const double factor = bytes(problem.a.dtype), sum = bytes(problem.compute), result = bytes(problem.d.dtype);
  const double memory = 2 * machine.copy_bandwidth;  // a copy reads and writes
  const double share = regions.depth / static_cast<double>(problem.k());
  const double pieces =
      std::max(pieces_along(problem.a, regions.a, 1), pieces_along(problem.b, regions.b, 2));
  const bool several = share < 1 || pieces > 1;
  const double rounded = several && sum != result ? share * size(regions.d) : 0;  // by each of the ranks
  const double again = not_hidden * 2 * size(regions.d) * sum / memory + machine.copy_latency;
  const double read = (size(regions.a) + size(regions.b)) * factor + size(regions.d) * result;
  const double operations = regions.multiplications() * operations_of(problem.compute);
  return std::max(operations / machine.product_flops(problem.a.dtype), read / memory) +
         rounded * (sum + result) / memory + (pieces - 1) * again;
}

/// Seconds, and bytes between nodes. `replicas_of_d`: how many ranks hold each element of D.
std::pair<double, double> price_of(const Problem& problem, const Tiling& tiling, const SampledRank& sample,
                                   double replicas_of_d) {
  const Tile tile = tiling.tile(sample.rank);
  if (tile.empty()) return {};
  const TileRegions regions{region_of(problem, tile, true), region_of(problem, tile, false),
                            region_of_d(tile), static_cast<double>(tile.k.size())};
  const Machine& machine = problem.machine;
  const bool device = problem.on_device();
  double bandwidth = std::min(machine.copy_bandwidth, machine.peer_bandwidth);
  if (!device) bandwidth = std::min(bandwidth, machine.node_copy_bandwidth / sample.sharers);
  Transfer transfer;
  for (const bool of_a : {true, false}) {
    const HeldOperand& input = problem.input(of_a);
    transfer.add(machine, input, input.dtype,
                 share(problem, sample, input.held, of_a ? regions.a : regions.b, 1),
                 weights_of(problem, input));
  }
  double joined = 0;  // of devices, after the products
  if (!tiling.stationary_d) {
    const double before = transfer.copied;
    transfer.add(machine, problem.d, problem.compute,
                 share(problem, sample, problem.d.held, regions.d, replicas_of_d),
                 device ? Share{0, 1, 0} : Share{joining, joining, joining + 1});
    if (device) joined = joining * (transfer.copied - before) / machine.copy_bandwidth;
  }
  const double starts =
      device && worth_starts(machine, transfer.copied, transfer.owners) ? transfer.owners : 0;
  const double copies = transfer.copied / bandwidth + starts * machine.copy_latency;
  const double network = transfer.network * sample.sharers / machine.network_bandwidth;
  const double multiply =
      device ? multiply_on_device(problem, regions) : multiply_on_host(problem, regions, bandwidth);
  const double moving = device ? std::max(copies, network) : network;
  return {std::max(multiply, moving) + not_overlapped * std::min(multiply, moving) +
              (device ? joined : copies) + transfer.latency,
          transfer.network};
}

/// Of the pipeline by which devices compute D, if one applies.
std::optional<double> pipeline_seconds(const Problem& problem, const Tiling& tiling) {
  if (!problem.on_device()) return std::nullopt;
  std::vector<Tile> tiles;
  for (int rank = 0; rank < problem.ranks(); ++rank) tiles.push_back(tiling.tile(rank));
  if (const std::optional<Ring> ring = find_ring(problem, tiles)) return ring->seconds;
  const std::optional<Stripes> stripes = find_stripes(problem, tiles);
  return stripes ? std::optional(stripes->seconds) : std::nullopt;
}

}  // namespace

Pricer pricer_of(const Problem& problem) {
  const double elements = static_cast<double>(volume(problem.d.layout.shape()));
  const double replicas =
      problem.d.layout.is_replicated() ? static_cast<double>(problem.d.held.elements()) / elements : 1;
  return [&problem, replicas, samples = samples_of(problem.topology)](Tiling tiling) {
    if (const std::optional<double> seconds = pipeline_seconds(problem, tiling))
      return Choice{std::move(tiling), *seconds, 0};
    std::pair<double, double> slowest{0, 0};
    for (const SampledRank& sample : samples) {
      const auto one = price_of(problem, tiling, sample, replicas);
      if (one.first > slowest.first) slowest = one;
    }
    return Choice{std::move(tiling), slowest.first, slowest.second};
  };
}

double seconds_to_redistribute(const Problem& problem, const Operand& operand) {
  const Machine& machine = problem.machine;
  const auto moved = static_cast<double>(array_bytes(operand));
  const double sharers = static_cast<double>(problem.ranks()) / problem.topology.node_count();
  const double bandwidth =
      std::min({machine.copy_bandwidth, machine.peer_bandwidth, machine.node_copy_bandwidth / sharers});
  const bool between_nodes = problem.topology.node_count() > 1;
  return 2 * moved / bandwidth + (between_nodes ? moved * sharers / machine.network_bandwidth : 0);
}

}  // namespace partita::multiplication
