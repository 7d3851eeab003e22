// Exchanges of rows among the ranks of a column of a grid.
#pragma once

#include <cstdint>

#include "linalg/panels.hpp"
#include "plan/plan_builder.hpp"

namespace partita::linear {

/// All rows that pivots move go to or come from those on the panel's diagonal. So the rank of a column of the
/// grid that has these has a message to and from each of the others, of the rows that move between the two:
/// how many these are depends on the pivots, which both know.
class RowExchange {
 public:
  /// Adds the scratch.
  RowExchange(const FactorBuffers& buffers, planning::PlanBuilder& builder);

  /// By the pivots of panel k, in these columns, which belong to one column of the grid; by the ranks of
  /// that.
  void run(int k, const IndexSet& columns);

 private:
  void run_by_owner(int k, const IndexSet& columns);
  void move(int k, const Part& matrix, const IndexSet& others, int packed, bool packs);
  Part of_factor(const IndexSet& rows, const IndexSet& columns) const {
    return {{{rows, columns}}, builder_.own(buffers_.factor)};
  }
  /// A message and its answer.
  void exchange(int peer, int k, std::int64_t columns);

  const FactorBuffers& buffers_;
  const Panels& panels_;
  planning::PlanBuilder& builder_;
  int sending_, receiving_, kept_, size_;  // scratch
};

}  // namespace partita::linear
