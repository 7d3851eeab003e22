#include <partita/trace.hpp>

#include "base/check.hpp"
#include "plan/describe.hpp"
#include "plan/events.hpp"

namespace partita {

Timeline planned_timeline(const Planner& planner, int ranks, const Machine& machine) {
  constexpr int most_ranks = 64;
  check(static_cast<bool>(planner), "a planned timeline needs a planner");
  check(ranks >= 1 && ranks <= most_ranks, "a planned timeline is for 1 to {} ranks, not {}", most_ranks,
        ranks);
  std::vector<Plan> plans;
  for (int rank = 0; rank < ranks; ++rank) plans.push_back(planner(rank));
  check(plans[0].topology.ranks() == ranks, "the plans are for {} ranks, not {}", plans[0].topology.ranks(),
        ranks);
  Timeline timeline{"planned", {}};
  timeline.ranks.resize(plans.size());
  planning::run_events(plans, machine, [&](std::size_t rank, std::size_t step, double begin, double end) {
    const Step& done = plans[rank].steps[step];
    timeline.ranks[rank].push_back({std::string(planning::name(done.kind)),
                                    planning::describe(plans[rank], done), 0, static_cast<int>(step), 0,
                                    begin, end});
  });
  return timeline;
}

}  // namespace partita
