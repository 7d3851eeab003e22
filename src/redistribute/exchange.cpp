#include "redistribute/exchange.hpp"

#include <algorithm>
#include <tuple>

#include "base/check.hpp"
#include "base/contains.hpp"

namespace partita::redistribution {

namespace {

/// The contribution of the rank's region that it holds, and the other holders.
struct Holding {
  int contribution = 0;
  std::vector<int> replicas;
};

Holding holding(const Layout& layout, const Region& own, int rank) {
  for (const Layout::Cell& cell : layout.cells(own)) {
    for (std::size_t c = 0; c < cell.contributions.size(); ++c) {
      if (contains(cell.contributions[c], rank)) return {static_cast<int>(c), cell.contributions[c]};
    }
  }
  invariant(false, "rank {} owns no part of its region in {}", rank, layout.to_string());
  return {};
}

// r takes from every cell of the source that meets D(r), once for each contribution.
std::vector<Overlap> incoming(const Problem& problem, const Region& wanted) {
  std::vector<Overlap> result;
  for (Layout::Cell& cell : problem.source.layout.cells(wanted)) {
    for (std::size_t c = 0; c < cell.contributions.size(); ++c) {
      const int giver = Layout::choose_replica(cell.contributions[c], problem.rank, problem.topology);
      result.push_back({giver, cell.region, static_cast<int>(c)});
    }
  }
  std::sort(result.begin(), result.end(), [&](const Overlap& a, const Overlap& b) {
    return std::tuple(a.contribution, problem.distance(a.peer, problem.rank)) <
           std::tuple(b.contribution, problem.distance(b.peer, problem.rank));
  });
  return result;
}

// r gives to every holder of contribution 0 of the destination's cells that meet S(r), if r is the one that
// it reads from.
std::vector<Overlap> outgoing(const Problem& problem, const Region& own) {
  std::vector<Overlap> result;
  const Holding mine = holding(problem.source.layout, own, problem.rank);
  for (const Layout::Cell& cell : problem.destination.layout.cells(own)) {
    for (const int taker : cell.contributions.front()) {
      if (taker == problem.rank) continue;
      if (Layout::choose_replica(mine.replicas, taker, problem.topology) != problem.rank) continue;
      result.push_back({taker, cell.region, mine.contribution});
    }
  }
  std::sort(result.begin(), result.end(), [&](const Overlap& a, const Overlap& b) {
    return problem.distance(problem.rank, a.peer) < problem.distance(problem.rank, b.peer);
  });
  return result;
}

}  // namespace

Exchange exchange(const Problem& problem) {
  Exchange result;
  const Region own = problem.source.layout.region(problem.rank);
  const Region wanted = problem.destination.layout.region(problem.rank);
  if (problem.same_layout) {  // also partial into the same partial: every contribution stays where it is
    if (!wanted.empty()) result.incoming.push_back({problem.rank, wanted, 0});
    return result;
  }
  if (!own.empty()) result.outgoing = outgoing(problem, own);
  if (wanted.empty()) return result;
  const bool takes = !problem.destination.layout.partial() ||
                     holding(problem.destination.layout, wanted, problem.rank).contribution == 0;
  if (takes) {
    result.incoming = incoming(problem, wanted);
  } else {
    result.identity = wanted;
  }
  return result;
}

void fill_identity(const Problem& problem, const Exchange& part, planning::PlanBuilder& builder) {
  if (!part.identity) return;
  builder.fill(problem.destination.layout.partial()->reduction, *part.identity,
               builder.own(destination_buffer));
}

}  // namespace partita::redistribution
