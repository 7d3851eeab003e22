#include "matmul/choose/memory_limit.hpp"

#include <algorithm>

#include "matmul/emit/assembly.hpp"

namespace partita::multiplication {
namespace {

constexpr int few_ranks = 64;        // each of which is tried
constexpr int ranks_tried = 8;       // of more
constexpr int small_steps = 3;       // before the limit is raised by more than was required
constexpr std::int64_t raised = 16;  // by a part of so many of the limit then

/// What the rank requires most of all that are tried; 0: the limit is enough.
std::int64_t required(Problem problem) {
  const int ranks = problem.ranks(), own = problem.rank, tried = ranks <= few_ranks ? ranks : ranks_tried;
  std::int64_t most = 0;
  for (int i = 0; i < std::min(ranks, tried + 1); ++i) {
    problem.rank = i < tried ? static_cast<int>(std::int64_t{i} * ranks / tried) : own;
    try {
      (void)Assembly(problem).finish();
    } catch (const LimitRefusal& refusal) {
      most = std::max(most, refusal.needed());
      if (refusal.alike()) break;
    }
  }
  return most;
}

}  // namespace

std::int64_t enough_memory(const Problem& problem) {
  Problem tried = problem;
  std::int64_t& limit = tried.options.memory_limit;
  int steps = 0;
  while (const std::int64_t needed = required(tried))
    limit = std::max(needed, steps++ < small_steps ? limit + 1 : limit + limit / raised + 1);
  const bool all_tried = problem.ranks() <= few_ranks || limit == problem.options.memory_limit;
  return all_tried ? limit : limit + limit / raised;
}

}  // namespace partita::multiplication
