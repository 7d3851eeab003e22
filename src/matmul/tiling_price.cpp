#include "matmul/tiling_price.hpp"

#include <algorithm>
#include <cmath>

#include "matmul/least_memory.hpp"

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

/// Floating-point operations of a multiply-add, in units of those that Machine::flops counts (f64).
double flops_per_multiplication(Dtype compute) {
  const double parts = is_complex(compute) ? 8 : 2;
  const bool single = compute == Dtype::f32 || compute == Dtype::c64;
  return single ? parts / 2 : parts;
}

std::int64_t size_of_part(const std::vector<IndexSet>& sets) {
  std::int64_t size = 1;
  for (const IndexSet& set : sets) size *= set.size();
  return size;
}

double size(const Region& region) {
  return static_cast<double>(region.size());
}

Region matrix_region(const Tile& tile, bool batched, const IndexSet& rows, const IndexSet& columns) {
  Region region;
  if (batched) region.sets = tile.batch;
  region.sets.push_back(rows);
  region.sets.push_back(columns);
  return region;
}

double replicas(const Layout& layout, const Held& held) {
  if (!layout.is_replicated()) return 1;
  return static_cast<double>(held.elements()) / static_cast<double>(volume(layout.shape()));
}

}  // namespace

Region needed_of_a(const Problem& problem, const Tile& tile) {
  return matrix_region(tile, problem.batched_a(), tile.m, tile.k);
}
Region needed_of_b(const Problem& problem, const Tile& tile) {
  return matrix_region(tile, problem.batched_b(), tile.k, tile.n);
}
Region product_of(const Problem& problem, const Tile& tile) {
  return matrix_region(tile, problem.batches() > 0, tile.m, tile.n);
}

TilingPricer::TilingPricer(const Problem& problem)
    : problem_(problem), replicas_of_d_(replicas(problem.d.layout, problem.held_d)) {
  const Topology& topology = problem_.topology;
  const bool many_nodes = topology.node_count() > 1;
  for (const int rank : spread_ranks(problem_.ranks())) {
    Sample sample;
    sample.self = held_by(rank);
    std::vector<int> mates = topology.node_ranks(topology.node(rank));
    sample.sharers = static_cast<double>(mates.size());
    mates.erase(std::find(mates.begin(), mates.end(), rank));
    const std::size_t looked_at = many_nodes ? std::min<std::size_t>(mates.size(), most_mates) : 0;
    for (std::size_t i = 0; i < looked_at; ++i) {
      sample.mates.push_back(held_by(mates[i * mates.size() / looked_at]));
    }
    if (looked_at > 0)
      sample.mates_weight = static_cast<double>(mates.size()) / static_cast<double>(looked_at);
    samples_.push_back(std::move(sample));
  }
}

TilingPricer::Holds TilingPricer::held_by(int rank) const {
  return {rank, problem_.held_a.by(rank), problem_.held_b.by(rank), problem_.held_d.by(rank)};
}

/// `copies`: so many times is each element wanted.
Share TilingPricer::share(const Sample& sample, Region Holds::*operand, const Region& wanted,
                          double copies) const {
  Share share;
  const double all = copies * static_cast<double>(wanted.size());
  share.own = static_cast<double>(common_size(wanted, sample.self.*operand));
  const double others = std::max(0.0, all - share.own);
  if (problem_.topology.node_count() == 1) {
    share.near = others;
    return share;
  }
  for (const Holds& mate : sample.mates) {
    share.near += sample.mates_weight * static_cast<double>(common_size(wanted, mate.*operand));
  }
  share.near = std::min(share.near, others);
  share.far = others - share.near;
  return share;
}

namespace {

/// The ranks that so many elements come from, if each holds as much as the largest part.
double givers(double elements, const Operand& operand) {
  const auto largest = static_cast<double>(std::max<std::int64_t>(1, operand.layout.largest_local_size()));
  return std::ceil(elements / largest);
}

}  // namespace

/// What a rank spends on one transfer in or out.
struct TilingPricer::Transfer {
  double copied = 0;   ///< bytes through the node's memory, weighted
  double network = 0;  ///< bytes
  double latency = 0;  ///< seconds

  void operator+=(const Transfer& other) {
    copied += other.copied;
    network += other.network;
    latency += other.latency;
  }
};

TilingPricer::Transfer TilingPricer::take_in(const Operand& operand, const Share& share) const {
  const auto item = static_cast<double>(size_of(operand.dtype));
  const bool direct = readable_in_place(operand) && operand.dtype == problem_.compute;
  Transfer transfer;
  const double way = direct ? in_place : operand.residency == Residency::heap && operand.dense ? 1 : 2;
  transfer.copied = (way * share.near + share.far) * item;
  if (operand.dtype != problem_.compute) transfer.copied += share.own * item;
  transfer.network = share.far * item;
  transfer.latency = givers(share.near, operand) * problem_.machine.signal_latency +
                     givers(share.far, operand) * problem_.machine.network_latency;
  return transfer;
}

namespace {

/// Into about how many pieces the layout cuts a dimension of the region: its length over what the owner of
/// its first element holds of it.
double pieces_along(const Layout& layout, const Region& region, std::size_t dimension) {
  if (region.empty()) return 1;
  Index first;
  for (const IndexSet& set : region.sets) first.push_back(set.front());
  const Region held = layout.region(layout.owner(first));
  const auto common = intersect(region.sets[dimension], held.sets[dimension]).size();
  return static_cast<double>(region.sets[dimension].size()) /
         static_cast<double>(std::max<std::int64_t>(common, 1));
}

}  // namespace

/// A tile is multiplied piece by piece, each with one owner in A, B and D: every piece of A is packed once
/// for each piece of n, ...
TilingPricer::Pieces TilingPricer::pieces_of(const Region& a, const Region& b, const Region& d) const {
  const auto along = [](const Operand& operand, const Region& region, int back) {
    return pieces_along(operand.layout, region, region.sets.size() - static_cast<std::size_t>(back));
  };
  return {std::max(along(problem_.a, a, 2), along(problem_.d, d, 2)),
          std::max(along(problem_.b, b, 1), along(problem_.d, d, 1)),
          std::max(along(problem_.a, a, 1), along(problem_.b, b, 2))};
}

TilingPricer::Transfer TilingPricer::give_away(const Share& share) const {
  const auto item = static_cast<double>(size_of(problem_.compute));
  Transfer transfer;
  transfer.copied = (joining * share.all() + share.far) * item;
  transfer.network = share.far * item;
  transfer.latency = givers(share.near, problem_.d) * problem_.machine.signal_latency +
                     givers(share.far, problem_.d) * problem_.machine.network_latency;
  return transfer;
}

TilingPrice TilingPricer::price(const Tiling& tiling, const Sample& sample) const {
  const Tile tile = tiling.tile(sample.self.rank);
  const Machine& machine = problem_.machine;
  const auto item = static_cast<double>(size_of(problem_.compute));
  const double bandwidth = std::min(
      {machine.copy_bandwidth, machine.peer_bandwidth, machine.node_copy_bandwidth / sample.sharers});
  TilingPrice price;
  if (tile.empty()) return price;
  const Region a = needed_of_a(problem_, tile), b = needed_of_b(problem_, tile),
               d = product_of(problem_, tile);
  const Share share_a = share(sample, &Holds::a, a, 1), share_b = share(sample, &Holds::b, b, 1);
  Transfer transfer = take_in(problem_.a, share_a);
  transfer += take_in(problem_.b, share_b);
  price.received = share_a.near + share_a.far + share_b.near + share_b.far;
  if (!tiling.stationary_d) {
    const Share share_d = share(sample, &Holds::d, d, replicas_of_d_);
    transfer += give_away(share_d);
    price.received += share_d.near + share_d.far;
  }
  const double batches = static_cast<double>(size_of_part(tile.batch));
  const double multiplications = batches * static_cast<double>(tile.m.size()) *
                                 static_cast<double>(tile.n.size()) * static_cast<double>(tile.k.size());
  const Pieces pieces = pieces_of(a, b, d);
  const double packed = (pieces.n * size(a) + pieces.m * size(b) + 2 * pieces.k * size(d)) * item;
  price.multiply_seconds =
      multiplications * flops_per_multiplication(problem_.compute) / machine.flops + packed / bandwidth;
  price.network_bytes = transfer.network;
  const double network = transfer.network * sample.sharers / machine.network_bandwidth;
  price.seconds = std::max(price.multiply_seconds, network) +
                  not_overlapped * std::min(price.multiply_seconds, network) + transfer.copied / bandwidth +
                  transfer.latency;
  return price;
}

TilingPrice TilingPricer::price(const Tiling& tiling) const {
  TilingPrice slowest;
  for (const Sample& sample : samples_) {
    const TilingPrice one = price(tiling, sample);
    if (one.seconds > slowest.seconds) slowest = one;
  }
  return slowest;
}

}  // namespace partita::multiplication
