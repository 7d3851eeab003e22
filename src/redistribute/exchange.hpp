// What one rank gives to and takes from every other: the algebra of redistribution.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan_builder.hpp"
#include "redistribute/problem.hpp"

namespace partita::redistribution {

/// What one rank gives another: there is at most one overlap for each ordered pair of ranks, since a rank
/// holds one region of one contribution.
struct Overlap {
  int peer = 0;  ///< the giver of an incoming, the taker of an outgoing one
  Region region;
  int contribution = 0;  ///< 0 is copied, the others are accumulated in increasing order
};

struct Exchange {
  std::vector<Overlap> incoming;   ///< with the rank itself; by (contribution, distance from the giver)
  std::vector<Overlap> outgoing;   ///< without the rank itself; by distance to the taker
  std::optional<Region> identity;  ///< of a destination that holds contributions: to be filled, not read
};

/// Incoming of rank r and outgoing of rank r agree for every pair of ranks, since both follow one rule:
///   q takes S(p) ∩ D(q) of contribution c from p  <=>  q holds contribution 0 of the destination,
///   and p is the one that q reads from (Layout::choose_replica) of those that hold contribution c of S(p).
/// Cost: proportional to the overlaps (and to the ranks where a layout is of boxes).
Exchange exchange(const Problem& problem);

/// Appends the step that fills a destination which holds contributions.
void fill_identity(const Problem& problem, const Exchange& part, planning::PlanBuilder& builder);

}  // namespace partita::redistribution
