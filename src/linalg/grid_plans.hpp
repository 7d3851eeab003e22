// Plans on grids of ranks with several rows.
#pragma once

#include <vector>

#include "linalg/facts.hpp"
#include "linalg/panels.hpp"
#include "plan/plan_builder.hpp"

namespace partita::linear {

/// Appends the factorization of what the factors' buffer holds. The status of each panel is written by its
/// owner; all other ranks contribute 0. LU: the factors of P A for all row exchanges P, as LAPACK has them.
void factorize_cholesky_on_grid(const FactorBuffers& buffers, ComputeType compute,
                                planning::PlanBuilder& builder);
void factorize_lu_on_grid(const FactorBuffers& buffers, ComputeType compute, planning::PlanBuilder& builder);

/// The blocks of a triangle in the order of several passes through it, one turn for each.
class GridTurns {
 public:
  GridTurns(const std::vector<Pass>& passes, int blocks) : passes_(passes), blocks_(blocks) {}

  int blocks() const { return blocks_; }
  int count() const { return blocks_ * static_cast<int>(passes_.size()); }
  const Pass& pass_of(int turn) const { return passes_[static_cast<std::size_t>(turn / blocks_)]; }
  int block(int turn) const {
    const int number = turn % blocks_;
    return pass_of(turn).forward() ? number : blocks_ - 1 - number;
  }
  bool is_first(int turn) const { return turn % blocks_ == 0; }  ///< of its pass
  bool is_last(int turn) const { return turn % blocks_ == blocks_ - 1; }

 private:
  const std::vector<Pass>& passes_;
  int blocks_;
};

/// Appends passes through triangles, from the right-hand sides in buffer `b` to buffer `x`, both [n, r]. One
/// moves the right-hand sides only, of which some ranks hold whole rows, also on a grid of one row; `many`
/// moves panels of the triangle along the rows of the grid, over all of which the right-hand sides are
/// distributed. The first gives the buffer of the right-hand sides and the steps between their
/// redistributions.
planning::SolveSteps solve_on_grid(const FactorBuffers& buffers, const std::vector<Pass>& passes, int b,
                                   int x, planning::PlanBuilder& builder);
void solve_many_on_grid(const FactorBuffers& buffers, const std::vector<Pass>& passes, int b, int x,
                        planning::PlanBuilder& builder);

// For whole columns, too.

/// Appends the redistribution of buffer `from` into buffer `to`.
void append_redistribution(planning::PlanBuilder& builder, int from, int to, std::int64_t staging = 0);
/// Appends the row exchanges of the panels of LU, each applied to all panels on its left, or undone.
void exchange_left(const Panels& panels, int factor, int pivots, planning::PlanBuilder& builder,
                   bool undo = false);

}  // namespace partita::linear
