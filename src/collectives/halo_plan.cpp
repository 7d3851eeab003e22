// The plans of ghost cells: exchanged, or added to what they belong to.
#include <fmt/format.h>

#include <utility>

#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"
#include "collectives/posted_exchange.hpp"

namespace partita::collective {
namespace {

// Three operands: the part, the extended part, and the part's place in the extended one.
constexpr const char* halo_names[] = {"source", "extended", "interior"};
constexpr const char* accumulating_names[] = {"destination", "extended", "interior"};
constexpr int part_operand = 0, extended_operand = 1, interior_operand = 2;

void copy_own_part(Chain& chain, const Layout& layout, int rank, HaloWay way) {
  if (layout.region(rank).empty()) return;
  Region own{{IndexSet::range(rank, rank + 1)}};
  for (const std::int64_t extent : layout.local_shape(rank)) own.sets.push_back(IndexSet::range(0, extent));
  const Place part = chain.builder().own(part_operand), inside = chain.builder().own(interior_operand);
  const bool accumulates = way == HaloWay::accumulate;
  chain.builder().copy(rank, own, accumulates ? inside : part, accumulates ? part : inside);
}

/// Where pieces come from, and where they go.
std::pair<int, int> ends(HaloWay way) {
  return way == HaloWay::exchange ? std::pair(part_operand, extended_operand)
                                  : std::pair(extended_operand, part_operand);
}

std::span<const char* const> names_of(HaloWay way) {
  return way == HaloWay::exchange ? halo_names : accumulating_names;
}

}  // namespace

Plan plan_halo(const Request& request, const HaloOptions& options, const Layout& layout, HaloWay way) {
  const Halos halos = make_halos(layout, options);
  Chain chain(request, names_of(way), "exchange", "pieces of neighbours through rings and messages");
  copy_own_part(chain, layout, request.rank, way);
  const auto [from, to] = ends(way);
  append_pairwise_exchange(chain, from, to, halo_pieces(halos, request.topology, request.rank, way),
                           layout.largest_local_size());
  return chain.take();
}

PostedHalo plan_posted_halo(const Request& request, const Halos& halos, std::int64_t most_bytes,
                            HaloWay way) {
  Chain chain(request, names_of(way), "exchange", "all pieces are sent before any is received");
  copy_own_part(chain, halos.layout, request.rank, way);
  const GivenBy given_by = [&](int rank) { return halo_pieces(halos, request.topology, rank, way).given; };
  const auto [from, to] = ends(way);
  const std::size_t given = append_posted_exchange(
      chain, from, to, halo_pieces(halos, request.topology, request.rank, way), given_by, most_bytes);
  return {chain.take(), given};
}

std::int64_t halo_posted_bytes(const Halos& halos, const Topology& topology, int rank, Dtype dtype,
                               HaloWay way, MemorySpace space) {
  return posted_bytes(halo_pieces(halos, topology, rank, way).given, topology, rank, size_of(dtype), space);
}

std::vector<Operand> halo_operands(const Halos& halos, Dtype dtype, MemorySpace space) {
  const int ranks = halos.layout.ranks();
  const Layout part = by_rank(largest_part(halos), ranks);
  std::vector<Operand> operands;
  for (const Layout& layout : {part, by_rank(largest_extended(halos), ranks), part}) {
    operands.push_back(Operand::of(layout, dtype));
    operands.back().dense = false;
    operands.back().space = space;
  }
  return operands;
}

std::string halo_text(const Layout& layout, const HaloOptions& options) {
  std::string periodic;
  for (int d = 0; d < static_cast<int>(options.periodic.size()); ++d) {
    if (options.periodic[static_cast<std::size_t>(d)])
      periodic += fmt::format("{}{}", periodic.empty() ? "" : ",", d);
  }
  const Extents& upper = options.upper.empty() ? options.lower : options.upper;
  const auto widths = [](const Extents& given) { return given.empty() ? "none" : to_string(given); };
  return fmt::format("{}, widths {} and {}, periodic {}", layout.to_string(), widths(options.lower),
                     widths(upper), periodic.empty() ? "nowhere" : "along " + periodic);
}

}  // namespace partita::collective
