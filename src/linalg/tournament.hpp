// Tournaments: how the ranks of a column of a grid choose the pivot rows of a panel.
#pragma once

#include <cstdint>

#include "linalg/panels.hpp"
#include "plan/plan_builder.hpp"

namespace partita::linear {

/// Each rank chooses rows of its own by partial pivoting; then, along a binary tree of the ranks, those of
/// two are one matrix from which rows are chosen in the same way (Grigori, Demmel and Xiang 2011).
class Tournament {
 public:
  /// Adds the scratch.
  Tournament(const FactorBuffers& buffers, planning::PlanBuilder& builder);

  /// By the ranks of the column of the grid that panel k belongs to. The owner of its block on the diagonal
  /// then has the chosen rows at `to`, as many as the panel has pivots, packed by columns, with two more
  /// columns of their numbers.
  void play(int k, const Place& to);
  void close();  ///< behind the last one

 private:
  std::int64_t entrants(int k, int position, int count) const;
  Part rows_at(int buffer, std::int64_t count, std::int64_t columns) const;
  void choose(const Part& from, bool numbered, std::int64_t count, std::int64_t pivots);
  void meet(int k, int position, int distance);
  void finish_send();

  const FactorBuffers& buffers_;
  const Panels& panels_;
  planning::PlanBuilder& builder_;
  int chosen_, received_, both_;  // scratch
  int sent_ = -1;                 // step
};

}  // namespace partita::linear
