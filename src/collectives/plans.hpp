// The planners of the collectives: pure functions, for any rank of any number of ranks.
#pragma once

#include "collectives/chain.hpp"
#include "collectives/halo_geometry.hpp"

namespace partita::collective {

/// Up to so many bytes a view is read whole by all who need it: one round of signals. Beyond, every rank
/// works on a slice of it, in two rounds.
inline constexpr std::int64_t small_bytes = 32 << 10;
/// The same between devices, where a launch takes longer than reading so much.
inline constexpr std::int64_t small_device_bytes = 1 << 20;

/// Operands: source, destination, as the layouts of the functions in <partita/collectives.hpp> say.
Plan plan_broadcast(const Request& request, int root);
/// contributions -> at_root
Plan plan_reduce(const Request& request);
/// contributions -> everywhere
Plan plan_all_reduce(const Request& request);
/// parts -> everywhere
Plan plan_all_gather(const Request& request);
/// by_rank -> by_rank
Plan plan_scan(const Request& request, Reduction reduction, bool exclusive);
/// Operands as `halo_operands` says. Through rings and windows of messages, with little scratch.
Plan plan_halo(const Request& request, const HaloOptions& options, const Layout& layout,
               HaloWay way = HaloWay::exchange);
/// The same, all given before any is taken: after `given` steps. `most_bytes`: the largest
/// `halo_posted_bytes` of any rank.
struct PostedHalo {
  Plan plan;
  std::size_t given = 0;
};
PostedHalo plan_posted_halo(const Request& request, const Halos& halos, std::int64_t most_bytes,
                            HaloWay way = HaloWay::exchange);
std::int64_t halo_posted_bytes(const Halos& halos, const Topology& topology, int rank, Dtype dtype,
                               HaloWay way = HaloWay::exchange, MemorySpace space = MemorySpace::host);
std::vector<Operand> halo_operands(const Halos& halos, Dtype dtype, MemorySpace space = MemorySpace::host);
/// What all ranks must have alike.
std::string halo_text(const Layout& layout, const HaloOptions& options);
/// counts[p][q]: indices along dimension 0 from rank p to rank q. Operands: by_rank -> by_rank, of the
/// largest extents of any rank.
using Counts = std::vector<std::vector<std::int64_t>>;
Plan plan_all_to_all_v(const Request& request, const Counts& counts);
}  // namespace partita::collective
