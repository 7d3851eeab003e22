#include "tools/planning.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace partita::tools {
namespace {

constexpr std::size_t most_steps_kept = 1'000'000;  // some hundred bytes each

struct KeptPlans {
  std::map<int, Plan> plans;
  std::size_t steps = 0;
};

}  // namespace

std::vector<std::string> phases_of_planning(int ranks, const std::string& what) {
  constexpr int most_ranks_asked_for = 64;
  return std::vector<std::string>(static_cast<std::size_t>(std::min(ranks, most_ranks_asked_for)) + 1, what);
}

Planner planned_once(Planner planner, Progress& progress) {
  return [planner = std::move(planner), &progress, kept = std::make_shared<KeptPlans>()](int rank) {
    if (const auto found = kept->plans.find(rank); found != kept->plans.end()) return found->second;
    Plan plan = planner(rank);
    progress.next();
    kept->steps += plan.steps.size();
    if (kept->steps <= most_steps_kept) kept->plans.emplace(rank, plan);
    return plan;
  };
}

}  // namespace partita::tools
