#include "plan/verify/schedule.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace partita::verification {
namespace {

void run_round_robin(Execution& execution, int ranks) {
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < ranks; ++rank) moved = execution.advance(rank) || moved;
  }
}

// After every step the first rank of `order` that can move takes the next one.
void run_by_precedence(Execution& execution, const std::vector<int>& order) {
  for (std::size_t i = 0; i < order.size();) {
    i = execution.advance(order[i]) ? 0 : i + 1;
  }
}

void run_bursts(Execution& execution, std::vector<int> order, std::mt19937_64& random) {
  constexpr std::uint64_t longest_burst = 8;
  for (bool moved = true; moved;) {
    moved = false;
    std::shuffle(order.begin(), order.end(), random);
    for (const int rank : order) {
      std::uint64_t burst = 1 + random() % longest_burst;
      for (; burst > 0 && execution.advance(rank); --burst) moved = true;
    }
  }
}

// Follows the waits from `rank` until one was met before, or an ended rank, or a rank of an earlier walk.
void follow(Execution& execution, int rank, std::vector<int>& walk_of, int walk, Faults& faults) {
  std::vector<int> path;
  while (walk_of[static_cast<std::size_t>(rank)] == 0) {
    walk_of[static_cast<std::size_t>(rank)] = walk;
    path.push_back(rank);
    const Execution::Blockage blockage = execution.blockage(rank);
    if (execution.ended(blockage.peer)) {
      faults.add(fmt::format("{}: waits {}; rank {} has ended", execution.next_label(rank), blockage.reason,
                             blockage.peer));
      return;
    }
    rank = blockage.peer;
  }
  if (walk_of[static_cast<std::size_t>(rank)] != walk) return;
  std::string cycle = "cycle of waits: ";
  for (auto on = std::find(path.begin(), path.end(), rank); on != path.end(); ++on) {
    cycle += fmt::format("{} -> ", execution.next_label(*on));
  }
  faults.add(cycle + fmt::format("rank {}", rank));
}

}  // namespace

void run_schedule(Execution& execution, int ranks, int schedule, std::mt19937_64& random) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  if (schedule == 0) return run_round_robin(execution, ranks);
  if (schedule == 2) std::reverse(order.begin(), order.end());
  if (schedule > 2) std::shuffle(order.begin(), order.end(), random);
  if (schedule > 2 && schedule % 2 == 0) return run_bursts(execution, order, random);
  run_by_precedence(execution, order);
}

void report_stuck(Execution& execution, int ranks, Faults& faults) {
  std::vector<int> walk_of(static_cast<std::size_t>(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    if (!execution.ended(rank)) follow(execution, rank, walk_of, rank + 1, faults);
  }
}

}  // namespace partita::verification
