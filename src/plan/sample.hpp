// Samples of the ranks of an operation: for sums and maxima over thousands of ranks by few plans.
#pragma once

#include <cstddef>
#include <partita/plan.hpp>
#include <span>
#include <vector>

namespace partita::planning {

/// Ranks, in increasing order, and how many ranks each represents: a sum over all ranks is estimated by the
/// sum over the sample, each term times its weight. The weights add up to the number of ranks.
struct RankSample {
  std::vector<int> ranks;
  std::vector<double> weights;

  std::size_t size() const { return ranks.size(); }
};

/// At most `most` of the ranks of a topology, at least one; all of them if there are no more. Half of the
/// sample, or less, are corners of the grids and meshes of `layouts` and of nodes times ranks per node: parts
/// are largest or smallest there, and a corner represents itself. The other ranks are divided into equal
/// intervals, each represented by a rank at another position, so that the sample covers rows and columns of
/// grids alike and does not follow their diagonals. Pure.
RankSample sample_ranks(const Topology& topology, std::span<const Layout> layouts, int most);
/// The sample for plans as long as this one: so few ranks, but at least 16, that planning them takes seconds.
RankSample sample_ranks(const Plan& plan, int most);

}  // namespace partita::planning
