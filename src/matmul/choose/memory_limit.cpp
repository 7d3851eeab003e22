#include "matmul/choose/memory_limit.hpp"

#include <algorithm>
#include <vector>

#include "matmul/emit/assembly.hpp"

namespace partita::multiplication {
namespace {

constexpr int few_ranks = 64;      // of which each is tried
constexpr int ranks_tried = 8;     // of more
constexpr int small_steps = 3;     // before the limit is raised by more than was asked for
constexpr std::int64_t part = 16;  // of the limit, by which it is raised then

/// What the rank refuses the limit with.
struct Asked {
  std::int64_t needed = 0;
  bool alike = false;
};

Asked asked_by(Problem problem, int rank) {
  problem.rank = rank;
  try {
    (void)Assembly(problem).finish();
  } catch (const LimitRefusal& refusal) {
    return {refusal.needed(), refusal.alike()};
  }
  return {};
}

std::vector<int> tried_ranks(const Problem& problem) {
  const int ranks = problem.ranks(), tried = ranks <= few_ranks ? ranks : ranks_tried;
  std::vector<int> result;
  for (int i = 0; i < tried; ++i) result.push_back(static_cast<int>(std::int64_t{i} * ranks / tried));
  if (tried < ranks) result.push_back(problem.rank);
  return result;
}

/// The most that a rank asks for; 0: the limit does.
std::int64_t most_asked(const Problem& problem) {
  std::int64_t most = 0;
  for (const int rank : tried_ranks(problem)) {
    const Asked asked = asked_by(problem, rank);
    most = std::max(most, asked.needed);
    if (asked.alike) break;
  }
  return most;
}

}  // namespace

std::int64_t enough_memory(const Problem& problem) {
  Problem tried = problem;
  std::int64_t& limit = tried.options.memory_limit;
  for (int steps = 0;; ++steps) {
    const std::int64_t asked = most_asked(tried);
    if (asked == 0) break;
    limit = std::max(asked, steps < small_steps ? limit + 1 : limit + limit / part + 1);
  }
  const bool all_tried = problem.ranks() <= few_ranks || limit == problem.options.memory_limit;
  return all_tried ? limit : limit + limit / part;
}

}  // namespace partita::multiplication
