#include "matmul/choose/chooser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "base/option_text.hpp"
#include "matmul/choose/memory_limit.hpp"
#include "matmul/choose/meshes.hpp"
#include "matmul/choose/scratch_account.hpp"

namespace partita::multiplication {
namespace {

constexpr int grids_priced = 2;
constexpr double alike = 0.01;   // of a price: no more than the model can tell apart
constexpr double clearly = 0.9;  // of the bytes

/// What moves where every rank multiplies what it holds of D.
Demand demand_where_d_stays(const Problem& problem) {
  const Tiling tiling = tiling_of(problem, MatmulMethod::local);
  Demand demand;
  for (int rank = 0; rank < problem.ranks() && !(demand.moves_a && demand.moves_b); ++rank) {
    demand.add(problem, tiling.tile(rank), rank, true);
  }
  return demand;
}

/// All tilings whose letters are those of an operand's mesh, the simplest first, by name: where D stays,
/// local if nothing moves, all-gather if one operand does, SUMMA if both do.
std::vector<Tiling> tilings_of_own_meshes(const Problem& problem) {
  using enum MatmulMethod;
  const Demand demand = demand_where_d_stays(problem);
  const int moving = demand.moves_a + demand.moves_b;
  const bool everywhere = problem.d.layout.is_replicated();
  std::vector<Tiling> all;
  for (const MatmulMethod method : {moving == 0   ? local
                                    : moving == 1 ? all_gather
                                                  : summa_c,
                                    everywhere ? all_reduce : reduce_scatter, summa_a, summa_b})
    all.push_back(tiling_of(problem, method));
  if (everywhere && problem.on_device() && problem.topology.node_count() == 1)
    all.push_back(slabs_for_all(problem));
  return all;
}

bool fits(const Problem& problem, const Tiling& tiling) {
  const std::int64_t limit = problem.options.memory_limit;
  return limit == 0 || least_scratch(problem, tiling, limit) <= limit;
}

/// The cheapest mesh over the best grids that fits.
std::optional<Choice> cheapest_grid(const Problem& problem, const Pricer& price, int grids) {
  std::vector<Choice> all;
  for (Tiling& tiling : communication_avoiding_tilings(problem, grids))
    all.push_back(price(std::move(tiling)));
  std::ranges::stable_sort(all, std::ranges::less(), &Choice::seconds);
  const auto found =
      std::ranges::find_if(all, [&](const Choice& choice) { return fits(problem, choice.tiling); });
  return found == all.end() ? std::nullopt : std::optional(std::move(*found));
}

[[noreturn]] void refuse_limit(const Problem& problem, const std::vector<Tiling>& tried) {
  std::int64_t enough = GridSearch(problem).smallest_scratch();
  for (const Tiling& tiling : tried) enough = std::min(enough, least_scratch(problem, tiling));
  throw LimitRefusal(
      fmt::format("a memory limit of {} bytes is too small for any method", problem.options.memory_limit),
      enough, true);
}

std::string describe_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

/// "...; 1.2 ms by the cost model for "laptop", against 2.1 ms by summa-a, 1.9 ms by communication-avoiding
/// 4x2x2".
std::string comparison(const std::vector<Choice>& all, std::size_t best, const Machine& machine) {
  const std::string of_machine = machine.name.empty() ? "" : " for \"" + machine.name + "\"";
  std::string text = fmt::format("{}; {} by the cost model{}", all[best].tiling.reason,
                                 describe_seconds(all[best].seconds), of_machine);
  const char* separator = ", against ";
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == best) continue;
    text += fmt::format("{}{} by {}", separator, describe_seconds(all[i].seconds), all[i].tiling.name);
    separator = ", ";
  }
  return text;
}

Choice cheapest(const Problem& problem) {
  const Pricer price = pricer_of(problem);
  const std::vector<Tiling> own = tilings_of_own_meshes(problem);
  std::vector<Choice> all;  // one per method, the simplest first; those that fit
  for (const Tiling& tiling : own) {
    if (fits(problem, tiling)) all.push_back(price(tiling));
  }
  if (auto grid = cheapest_grid(problem, price, grids_priced)) all.push_back(std::move(*grid));
  if (all.empty()) refuse_limit(problem, own);
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (is_worth_it(all[best], all[i])) best = i;
  }
  Choice chosen = all[best];
  chosen.tiling.reason = comparison(all, best, problem.machine);
  return chosen;
}

Choice named(const Problem& problem) {
  const MatmulMethod method = problem.options.method;
  const Pricer price = pricer_of(problem);
  std::optional<Choice> choice = method == MatmulMethod::communication_avoiding
                                     ? cheapest_grid(problem, price, 1)
                                     : price(tiling_of(problem, method));
  if (!choice) refuse_limit(problem, {});
  if (method == MatmulMethod::local) {
    const Demand demand = demand_where_d_stays(problem);
    check(!demand.moves_a && !demand.moves_b,
          "the method local needs all factors of a rank on that rank, but {} is {}",
          demand.moves_a ? "A" : "B", problem.input(demand.moves_a).layout.to_string());
  }
  if (!fits(problem, choice->tiling)) {
    throw LimitRefusal(fmt::format("a memory limit of {} bytes is too small for {}",
                                   problem.options.memory_limit, choice->tiling.name),
                       least_scratch(problem, choice->tiling), true);
  }
  choice->tiling.reason += "; asked for";
  return *choice;
}

// --- the same problem for many ranks

/// From so many ranks on a choice takes longer than a plan, and who plans thousands of ranks plans several.
constexpr int ranks_planned_in_turn = 256;

/// What a choice depends on, except the topology.
std::string key_of(const Problem& problem) {
  OptionText options;
  for_each_option(problem.options, problem.in_place, options);
  std::string key = fmt::format("{} {} {} {} {}", options.text(), problem.scales_product(),
                                problem.beside_stationary, problem.beside_moving, problem.grouped());
  for (const HeldOperand* const one : {&problem.a, &problem.b, &problem.d}) key += "; " + one->to_string();
  return key + "; " + to_string(problem.machine);
}

}  // namespace

bool is_worth_it(const Choice& first, const Choice& second) {
  if (second.seconds < (1 - alike) * first.seconds) return true;
  return second.seconds < (1 + alike) * first.seconds && second.network_bytes < clearly * first.network_bytes;
}

Choice choose(const Problem& problem) {
  const auto anew = [&] {
    return problem.options.method == MatmulMethod::automatic ? cheapest(problem) : named(problem);
  };
  if (problem.ranks() < ranks_planned_in_turn) return anew();
  struct Known {
    std::string key;
    Topology topology;
    Choice choice;
  };
  constexpr std::size_t most = 4;
  static thread_local std::vector<Known> last;  // what this thread has chosen
  std::string key = key_of(problem);
  const auto found = std::ranges::find_if(
      last, [&](const Known& one) { return one.key == key && one.topology == problem.topology; });
  if (found != last.end()) return found->choice;
  if (last.size() == most) last.erase(last.begin());
  return last.emplace_back(std::move(key), problem.topology, anew()).choice;
}

}  // namespace partita::multiplication
