#include "matmul/choose/tiling_price.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "matmul/choose/scratch_account.hpp"
#include "matmul/choose/stripes_price.hpp"
#include "matmul/dtypes.hpp"
#include "matmul/emit/puts.hpp"
#include "matmul/emit/ring.hpp"
#include "matmul/emit/stripes.hpp"

namespace partita::multiplication {
namespace {

constexpr int most_samples = 16;
constexpr int most_mates = 8;
constexpr double in_place = 0.125;      // of a copy: BLAS reads the operand anyway, but from further away
constexpr double joining = 1.5;         // of a copy: two read, one written
constexpr double not_overlapped = 0.1;  // of the shorter one of multiplying and messages

/// Ranks in golden-section order: no grid's rows or columns repeat in it.
std::vector<int> spread_ranks(int ranks) {
  std::vector<int> result;
  if (ranks <= most_samples) {
    for (int rank = 0; rank < ranks; ++rank) result.push_back(rank);
    return result;
  }
  constexpr double golden = 0.6180339887498949;
  for (int i = 0; i < most_samples; ++i) {
    const double place = i * golden;
    result.push_back(static_cast<int>((place - std::floor(place)) * ranks));
  }
  return result;
}

/// The same in units of those that Machine::flops counts (f64).
double flops_per_multiplication(Dtype compute) {
  const double parts = operations_of(compute);
  const bool single = compute == Dtype::f32 || compute == Dtype::c64 || compute == Dtype::i32;
  return single ? parts / 2 : parts;
}

double size(const Region& region) {
  return static_cast<double>(region.size());
}

double replicas(const HeldOperand& operand) {
  if (!operand.layout.is_replicated()) return 1;
  return static_cast<double>(operand.held.elements()) / static_cast<double>(volume(operand.layout.shape()));
}

/// A rank that is looked at.
struct SampledRank {
  int rank = 0;
  double sharers = 1;       ///< ranks of its node
  std::vector<int> mates;   ///< some of the other ranks of its node
  double mates_weight = 1;  ///< how many each of them stands for
};

SampledRank sampled(const Topology& topology, int rank) {
  SampledRank sample;
  sample.rank = rank;
  std::vector<int> mates = topology.node_ranks(topology.node(rank));
  sample.sharers = static_cast<double>(mates.size());
  if (topology.node_count() == 1) return sample;
  mates.erase(std::find(mates.begin(), mates.end(), rank));
  const std::size_t looked_at = std::min<std::size_t>(mates.size(), most_mates);
  for (std::size_t i = 0; i < looked_at; ++i) sample.mates.push_back(mates[i * mates.size() / looked_at]);
  if (looked_at > 0) {
    sample.mates_weight = static_cast<double>(mates.size()) / static_cast<double>(looked_at);
  }
  return sample;
}

/// Elements of one operand that a rank works on, by where they lie: its own, with other ranks of its node, on
/// other nodes. Or what each of them costs.
struct Share {
  double own = 0;
  double near = 0;
  double far = 0;
};

/// `copies`: so many times is each element wanted.
Share share(const Problem& problem, const SampledRank& sample, const OwnedRegions& held, const Region& wanted,
            double copies = 1) {
  Share share;
  share.own = static_cast<double>(common_size(wanted, held.by(sample.rank)));
  const double others = std::max(0.0, copies * size(wanted) - share.own);
  if (problem.topology.node_count() == 1) {
    share.near = others;
    return share;
  }
  for (const int mate : sample.mates) {
    share.near += sample.mates_weight * static_cast<double>(common_size(wanted, held.by(mate)));
  }
  share.near = std::min(share.near, others);
  share.far = others - share.near;
  return share;
}

/// What a rank spends on what it takes in and gives away.
struct Transfer {
  double copied = 0;   ///< bytes through the node's memory, weighted
  double network = 0;  ///< bytes
  double latency = 0;  ///< seconds
  double owners = 0;   ///< of this node, from whom it comes or to whom it goes, if each holds as much as the
                       ///< largest part

  void add(const Machine& machine, const Operand& operand, Dtype dtype, const Share& share,
           const Share& weights) {
    const auto item = static_cast<double>(size_of(dtype));
    const auto largest = static_cast<double>(std::max<std::int64_t>(1, operand.layout.largest_local_size()));
    copied += (weights.own * share.own + weights.near * share.near + weights.far * share.far) * item;
    network += share.far * item;
    const double near = std::ceil(share.near / largest);
    owners += near;
    latency += near * machine.signal_latency + std::ceil(share.far / largest) * machine.network_latency;
  }
};

/// Of what is taken in.
Share weights_of(const Operand& operand, Dtype compute) {
  const bool converted = operand.dtype != compute;
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

/// Elements that BLAS packs. A tile is multiplied piece by piece, each with one owner in A, B and D: every
/// piece of A is packed once for each piece of n, ...
double packed_elements(const Problem& problem, const Region& a, const Region& b, const Region& d) {
  const double m = std::max(pieces_along(problem.a, a, 2), pieces_along(problem.d, d, 2));
  const double n = std::max(pieces_along(problem.b, b, 1), pieces_along(problem.d, d, 1));
  const double k = std::max(pieces_along(problem.a, a, 1), pieces_along(problem.b, b, 2));
  return n * size(a) + m * size(b) + 2 * k * size(d);
}

struct Price {
  double seconds = 0;
  double network_bytes = 0;
};

/// A tile, and what of A, B and D it is about.
struct TileRegions {
  Tile tile;
  Region a, b, d;

  TileRegions(const Problem& problem, Tile of_rank)
      : tile(std::move(of_rank)),
        a(region_of(problem, tile, true)),
        b(region_of(problem, tile, false)),
        d(region_of_d(tile)) {}
  double multiplications() const { return size(d) * static_cast<double>(tile.k.size()); }
};

/// Seconds of a device's products. Its BLAS packs nothing; where there are few rows or columns, it takes as
/// long as reading the factors does. Several products of one sum, of this rank or of several, go by way of
/// memory, and are rounded in a pass behind; each more of this rank is a start, and a pass over the sums,
/// most of which its multiplications hide.
double multiply_on_device(const Problem& problem, const TileRegions& regions) {
  const Machine& machine = problem.machine;
  const double operations = regions.multiplications() * operations_of(problem.compute);
  const auto factor = static_cast<double>(size_of(problem.a.dtype)),
             sum = static_cast<double>(size_of(problem.compute)),
             result = static_cast<double>(size_of(problem.d.dtype));
  const double memory = 2 * machine.copy_bandwidth;  // a copy reads and writes
  const double share = static_cast<double>(regions.tile.k.size()) / static_cast<double>(problem.k());
  const double pieces =
      std::max(pieces_along(problem.a, regions.a, 1), pieces_along(problem.b, regions.b, 2));
  const bool several = share < 1 || pieces > 1;
  const double rounded = several && sum != result ? share * size(regions.d) : 0;  // by each of the ranks
  const double again = not_hidden * 2 * size(regions.d) * sum / memory + machine.copy_latency;
  const double passes = rounded * (sum + result) / memory + (pieces - 1) * again;
  const double bytes = (size(regions.a) + size(regions.b)) * factor + size(regions.d) * result;
  return std::max(operations / machine.product_flops(problem.a.dtype), bytes / memory) + passes;
}

/// On devices all that is taken in or given away is copied, beside the products; sums of others are joined
/// behind.
Price price_on_device(const Problem& problem, const Tiling& tiling, const SampledRank& sample,
                      const TileRegions& regions, double replicas_of_d) {
  const Machine& machine = problem.machine;
  const Share copies{0, 1, 0};
  Transfer transfer;
  for (const bool of_a : {true, false}) {
    const HeldOperand& input = problem.input(of_a);
    transfer.add(machine, input, input.dtype,
                 share(problem, sample, input.held, of_a ? regions.a : regions.b), copies);
  }
  double joined = 0;
  if (!tiling.stationary_d) {
    const double before = transfer.copied;
    transfer.add(machine, problem.d, problem.compute,
                 share(problem, sample, problem.d.held, regions.d, replicas_of_d), copies);
    joined = joining * (transfer.copied - before) / machine.copy_bandwidth;
  }
  const double multiply = multiply_on_device(problem, regions);
  const double starts = worth_starts(machine, transfer.copied, transfer.owners) ? transfer.owners : 0;
  const double moving = std::max(transfer.copied / std::min(machine.copy_bandwidth, machine.peer_bandwidth) +
                                     starts * machine.copy_latency,
                                 transfer.network * sample.sharers / machine.network_bandwidth);
  return {
      std::max(multiply, moving) + not_overlapped * std::min(multiply, moving) + joined + transfer.latency,
      transfer.network};
}

/// `replicas_of_d`: so many ranks hold each element of D.
Price price_of(const Problem& problem, const Tiling& tiling, const SampledRank& sample,
               double replicas_of_d) {
  Tile tile = tiling.tile(sample.rank);
  if (tile.empty()) return {};
  const TileRegions regions(problem, std::move(tile));
  if (problem.on_device()) return price_on_device(problem, tiling, sample, regions, replicas_of_d);
  const Machine& machine = problem.machine;
  const Dtype compute = problem.compute;
  Transfer transfer;
  for (const bool of_a : {true, false}) {
    const HeldOperand& input = problem.input(of_a);
    const Share taken = share(problem, sample, input.held, of_a ? regions.a : regions.b);
    transfer.add(machine, input, input.dtype, taken, weights_of(input, compute));
  }
  if (!tiling.stationary_d) {
    const Share given = share(problem, sample, problem.d.held, regions.d, replicas_of_d);
    transfer.add(machine, problem.d, compute, given, {joining, joining, joining + 1});
  }
  const double bandwidth = std::min(
      {machine.copy_bandwidth, machine.peer_bandwidth, machine.node_copy_bandwidth / sample.sharers});
  const double packed = packed_elements(problem, regions.a, regions.b, regions.d) *
                        static_cast<double>(size_of(compute)) / bandwidth;
  const double multiply =
      regions.multiplications() * flops_per_multiplication(compute) / machine.flops + packed;
  const double network = transfer.network * sample.sharers / machine.network_bandwidth;
  return {std::max(multiply, network) + not_overlapped * std::min(multiply, network) +
              transfer.copied / bandwidth + transfer.latency,
          transfer.network};
}

/// Of the pipeline by which devices make D, if one applies.
std::optional<double> pipeline_seconds(const Problem& problem, const Tiling& tiling) {
  if (!problem.on_device()) return std::nullopt;
  std::vector<Tile> tiles;
  for (int rank = 0; rank < problem.ranks(); ++rank) tiles.push_back(tiling.tile(rank));
  if (const std::optional<Ring> ring = find_ring(problem, tiles)) return ring->seconds;
  const std::optional<Stripes> stripes = find_stripes(problem, tiles);
  return stripes ? std::optional(stripes->seconds) : std::nullopt;
}

}  // namespace

TilingPricer pricer_of(const Problem& problem) {
  std::vector<SampledRank> samples;
  for (const int rank : spread_ranks(problem.ranks())) samples.push_back(sampled(problem.topology, rank));
  return [&problem, samples, replicas_of_d = replicas(problem.d)](Tiling tiling) {
    if (const std::optional<double> seconds = pipeline_seconds(problem, tiling)) {
      return Choice{std::move(tiling), *seconds, 0};
    }
    Price slowest;
    for (const SampledRank& sample : samples) {
      const Price one = price_of(problem, tiling, sample, replicas_of_d);
      if (one.seconds > slowest.seconds) slowest = one;
    }
    return Choice{std::move(tiling), slowest.seconds, slowest.network_bytes};
  };
}

}  // namespace partita::multiplication
