#include "matmul/choose/chooser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "matmul/choose/memory_limit.hpp"
#include "matmul/choose/scratch_account.hpp"

namespace partita::multiplication {
namespace {

constexpr int grids_priced = 2;
constexpr double alike = 0.01;   // of a price: no more than the model can tell apart
constexpr double clearly = 0.9;  // of the bytes

/// What moves where every rank multiplies what it holds of D.
Demand demand_where_d_stays(const Problem& problem, const Tiling& tiling) {
  Demand demand;
  for (int rank = 0; rank < problem.ranks() && !(demand.moves_a && demand.moves_b); ++rank) {
    demand.add(problem, tiling.tile(rank), rank, true);
  }
  return demand;
}

/// D stays where it is: local where nothing moves, all-gather where one operand does, SUMMA where both do.
Tiling stationary_tiling(const Problem& problem) {
  Tiling summa = tiling_of(problem, MatmulMethod::summa_c);
  const Demand demand = demand_where_d_stays(problem, summa);
  if (demand.moves_a && demand.moves_b) return summa;
  const bool moves = demand.moves_a || demand.moves_b;
  return tiling_of(problem, moves ? MatmulMethod::all_gather : MatmulMethod::local);
}

bool fits(const Problem& problem, const Tiling& tiling) {
  const std::int64_t limit = problem.options.memory_limit;
  return limit == 0 || least_scratch(problem, tiling, limit) <= limit;
}

/// The cheapest grid that fits.
std::optional<Choice> cheapest_grid(const Problem& problem, const TilingPricer& price, int grids) {
  std::vector<Choice> all;
  for (Tiling& tiling : communication_avoiding_tilings(problem, grids)) {
    all.push_back(price(std::move(tiling)));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Choice& a, const Choice& b) { return a.seconds < b.seconds; });
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Choice& choice) { return fits(problem, choice.tiling); });
  if (found == all.end()) return std::nullopt;
  return std::move(*found);
}

/// The tilings of one method each that leave an operand where it is, the simplest first.
std::vector<Tiling> stationary_tilings(const Problem& problem) {
  const bool everywhere = problem.d.layout.is_replicated();
  std::vector<Tiling> all{
      stationary_tiling(problem),
      tiling_of(problem, everywhere ? MatmulMethod::all_reduce : MatmulMethod::reduce_scatter),
      tiling_of(problem, MatmulMethod::summa_a), tiling_of(problem, MatmulMethod::summa_b)};
  if (everywhere && problem.on_device() && problem.topology.node_count() == 1) {
    all.push_back(slabs_for_all(problem));
  }
  return all;
}

[[noreturn]] void refuse_limit(const Problem& problem, const std::vector<Tiling>& tried) {
  std::int64_t enough =
      fixed_scratch(problem) + smallest_scratch(question_of(problem)) * size_of(problem.compute);
  for (const Tiling& tiling : tried) enough = std::min(enough, least_scratch(problem, tiling));
  throw LimitRefusal(
      fmt::format("a memory limit of {} bytes is too small for any method", problem.options.memory_limit),
      enough, true);
}

/// One choice a method, the simplest methods first; those that fit into the memory limit.
std::vector<Choice> choices(const Problem& problem) {
  const TilingPricer price = pricer_of(problem);
  std::vector<Choice> result;
  for (Tiling& tiling : stationary_tilings(problem)) {
    if (fits(problem, tiling)) result.push_back(price(std::move(tiling)));
  }
  auto grid = cheapest_grid(problem, price, grids_priced);
  if (grid) result.push_back(std::move(*grid));
  if (result.empty()) refuse_limit(problem, stationary_tilings(problem));
  return result;
}

std::string describe_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string name_of(const Machine& machine) {
  return machine.name.empty() ? "" : " for \"" + machine.name + "\"";
}

/// "...; 1.2 ms by the cost model for "laptop", against 2.1 ms by summa-a, 1.9 ms by communication-avoiding
/// 4x2x2".
std::string comparison(const std::vector<Choice>& all, std::size_t best, const Machine& machine) {
  std::string text = fmt::format("{}; {} by the cost model{}", all[best].tiling.reason,
                                 describe_seconds(all[best].seconds), name_of(machine));
  const char* separator = ", against ";
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == best) continue;
    text += fmt::format("{}{} by {}", separator, describe_seconds(all[i].seconds), all[i].tiling.name);
    separator = ", ";
  }
  return text;
}

Tiling grid_tiling_or_refusal(const Problem& problem) {
  auto grid = cheapest_grid(problem, pricer_of(problem), 1);
  if (!grid) refuse_limit(problem, {});
  return std::move(grid->tiling);
}

void check_named(const Problem& problem, const Tiling& tiling) {
  if (tiling.method == MatmulMethod::local) {
    const Demand demand = demand_where_d_stays(problem, tiling);
    check(!demand.moves_a && !demand.moves_b,
          "the method local needs all factors of a rank on that rank, but {} is {}",
          demand.moves_a ? "A" : "B", problem.input(demand.moves_a).layout.to_string());
  }
  if (fits(problem, tiling)) return;
  throw LimitRefusal(fmt::format("a memory limit of {} bytes is too small for {}",
                                 problem.options.memory_limit, tiling.name),
                     least_scratch(problem, tiling), true);
}

Choice cheapest(const Problem& problem) {
  std::vector<Choice> all = choices(problem);
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (is_worth_it(all[best], all[i])) best = i;
  }
  Choice chosen = all[best];
  chosen.tiling.reason = comparison(all, best, problem.machine);
  return chosen;
}

Choice choose_anew(const Problem& problem) {
  if (problem.options.method == MatmulMethod::automatic) return cheapest(problem);
  const bool by_grid = problem.options.method == MatmulMethod::communication_avoiding;
  Tiling tiling = by_grid ? grid_tiling_or_refusal(problem) : tiling_of(problem, problem.options.method);
  check_named(problem, tiling);
  tiling.reason += "; asked for";
  return pricer_of(problem)(std::move(tiling));
}

// --- the same problem for many ranks

/// From so many ranks on a choice takes longer than a plan, and who plans thousands of ranks plans several.
constexpr int ranks_planned_in_turn = 256;

/// All of a problem that is not the rank's, but for the topology.
std::string key_of(const Problem& problem) {
  const MatmulOptions& options = problem.options;
  std::string key = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {}", name(options.method), name(options.epilogue), options.memory_limit,
      name(problem.compute), name(problem.reduced), problem.in_place, problem.multiplies_nothing(),
      problem.beside_stationary, problem.beside_moving, problem.conjugate_a, problem.conjugate_b);
  for (const Operand* const one :
       {static_cast<const Operand*>(&problem.a), static_cast<const Operand*>(&problem.b),
        static_cast<const Operand*>(&problem.d)})
    key += " | " + one->to_string();
  for (const auto* const one : {&problem.c, &problem.bias, &problem.auxiliary, &problem.gradient,
                                &problem.scale_a, &problem.scale_b, &problem.scale_d, &problem.amax_d})
    key += *one ? " | " + (*one)->to_string() : " | none";
  if (problem.groups) {
    key += fmt::format(" | {} {} {}", problem.groups->turn_bytes, problem.groups->round_bytes,
                       problem.groups->shortest_turn);
  }
  return key + " | " + to_string(problem.machine);
}

/// What this thread has chosen last.
class LastChoices {
 public:
  const Choice* find(const std::string& key, const Topology& topology) const {
    const auto found = std::ranges::find_if(
        choices_, [&](const Known& one) { return one.key == key && one.topology == topology; });
    return found == choices_.end() ? nullptr : &found->choice;
  }
  void keep(std::string key, const Topology& topology, Choice choice) {
    constexpr std::size_t most = 4;
    if (choices_.size() == most) choices_.erase(choices_.begin());
    choices_.push_back({std::move(key), topology, std::move(choice)});
  }

 private:
  struct Known {
    std::string key;
    Topology topology;
    Choice choice;
  };
  std::vector<Known> choices_;
};

}  // namespace

bool is_worth_it(const Choice& first, const Choice& second) {
  if (second.seconds < (1 - alike) * first.seconds) return true;
  return second.seconds < (1 + alike) * first.seconds && second.network_bytes < clearly * first.network_bytes;
}

Choice choose(const Problem& problem) {
  if (problem.ranks() < ranks_planned_in_turn) return choose_anew(problem);
  static thread_local LastChoices last;
  std::string key = key_of(problem);
  if (const Choice* const known = last.find(key, problem.topology)) return *known;
  Choice chosen = choose_anew(problem);
  last.keep(std::move(key), problem.topology, chosen);
  return chosen;
}

}  // namespace partita::multiplication
