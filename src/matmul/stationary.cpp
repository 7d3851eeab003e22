#include "matmul/stationary.hpp"

#include <utility>

namespace partita::multiplication {
namespace {

// The first of the ranks that hold the same: it works, so that nothing is counted twice.
bool works(const Held& held, int rank) {
  return !held.by(rank).empty() && held.first_holder(rank) == rank;
}

bool is_cut(const Operand& operand, int dimension) {
  const Layout& layout = operand.layout;
  for (const int rank : {0, layout.ranks() - 1}) {
    if (layout.local_shape(rank)[dimension] < layout.shape()[dimension]) return true;
  }
  return false;
}

std::vector<IndexSet> whole_batches(const Problem& problem) {
  std::vector<IndexSet> result;
  for (int i = 0; i < problem.batches(); ++i)
    result.push_back(IndexSet::range(0, problem.d.layout.shape()[i]));
  return result;
}

}  // namespace

Tiling stationary_d(const Problem& problem, MatmulMethod method, std::string name, std::string reason) {
  const auto tile = [problem](int rank) {
    Holding held = holding(problem, problem.d, problem.held_d.by(rank));
    return Tile{std::move(held.batch), std::move(held.rows), std::move(held.columns),
                IndexSet::range(0, problem.k())};
  };
  return {method, std::move(name), std::move(reason), tile, true};
}

Tiling stationary_a(const Problem& problem, MatmulMethod method, std::string name, std::string reason) {
  const auto tile = [problem](int rank) {
    if (!works(problem.held_a, rank)) return Tile{};
    Holding held = holding(problem, problem.a, problem.held_a.by(rank));
    return Tile{std::move(held.batch), std::move(held.rows), IndexSet::range(0, problem.n()),
                std::move(held.columns)};
  };
  return {method, std::move(name), std::move(reason), tile, false};
}

Tiling stationary_b(const Problem& problem, MatmulMethod method, std::string name, std::string reason) {
  const auto tile = [problem](int rank) {
    if (!works(problem.held_b, rank)) return Tile{};
    Holding held = holding(problem, problem.b, problem.held_b.by(rank));
    return Tile{std::move(held.batch), IndexSet::range(0, problem.m()), std::move(held.columns),
                std::move(held.rows)};
  };
  return {method, std::move(name), std::move(reason), tile, false};
}

Tiling split_k(const Problem& problem, MatmulMethod method, std::string name, std::string reason) {
  const auto tile = [problem](int rank) {
    const std::int64_t k = problem.k();
    return Tile{whole_batches(problem), IndexSet::range(0, problem.m()), IndexSet::range(0, problem.n()),
                IndexSet::range(k * rank / problem.ranks(), k * (rank + 1) / problem.ranks())};
  };
  return {method, std::move(name), std::move(reason), tile, false};
}

Tiling cut_along_k(const Problem& problem, MatmulMethod method, std::string name, std::string reason) {
  const bool by_a = is_cut(problem.a, problem.a.layout.dimensions() - 1);
  const bool by_b = is_cut(problem.b, problem.b.layout.dimensions() - 2);
  // Neither is cut along k: cut it evenly.
  if (!by_a && !by_b) return split_k(problem, method, std::move(name), std::move(reason));
  if (by_a) return stationary_a(problem, method, std::move(name), std::move(reason));
  return stationary_b(problem, method, std::move(name), std::move(reason));
}

}  // namespace partita::multiplication
