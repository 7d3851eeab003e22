// Plans of factorizations and solves, for `plan` and `trace`.
#include <algorithm>
#include <cmath>
#include <partita/linalg.hpp>

#include "tools/question.hpp"

namespace partita::tools {

Planner planner_of_linear(const Question& question, const Topology& topology, const Machine& machine) {
  const Factorization kind = question.factorization();
  const Operand a = question.matrix(topology.ranks());
  const FactorOptions how = question.factors;
  if (question.factorizes())
    return [=](int rank) { return plan_factorization(kind, a, topology, rank, how, machine); };
  const Operand b = question.right_hand_sides(topology.ranks(), true);
  const Operand x = question.right_hand_sides(topology.ranks(), false);
  return [=, op = question.product.op_a](int rank) {
    return plan_solve(kind, a, b, x, topology, rank, op, how, false, machine);
  };
}

double bytes_of_grid(const Question& question, int ranks) {
  const double m = static_cast<double>(question.shape[0]), n = static_cast<double>(question.shape[1]);
  const double k = std::min(m, n), triangle = k * (k - 1) / 2;
  const double lower = m * k - triangle, upper = n * k - triangle;
  const double elements = 2 * std::sqrt(lower * upper / ranks) - (lower + upper) / ranks;
  return std::max(0.0, elements) * static_cast<double>(size_of(question.dtype_or_usual()));
}

}  // namespace partita::tools
