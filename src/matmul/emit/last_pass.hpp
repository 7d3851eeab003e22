// What is done to sums on their way into D.
#pragma once

#include <optional>
#include <vector>

#include "matmul/emit/matmul_buffers.hpp"
#include "plan/plan_builder.hpp"

namespace partita::multiplication {

/// D[piece] = F(sums + beta C), with whatever else the epilogue reads and writes.
class LastPass {
 public:
  LastPass(const MatmulBuffers& buffers, planning::PlanBuilder& builder)
      : buffers_(buffers), builder_(builder) {}

  /// More is to be done than to round. `c_pending`: beta C is not in the sums yet.
  bool changes_sums(bool c_pending) const;
  /// Writes the steps, none where the sums are D already. `arrived`: other ranks' sums, to be added to them;
  /// beta C is not pending then.
  void write(const Region& piece, Part from, bool c_pending, std::vector<int> after = {},
             const std::optional<Part>& arrived = {});
  /// Adds to sums what has arrived.
  void add(const Region& piece, const Place& sums, const Part& arrived);
  /// All that this rank holds of D, in pieces that stay in cache, from a buffer laid out as D.
  void write_all(int buffer, bool c_pending);

 private:
  const MatmulBuffers& buffers_;
  planning::PlanBuilder& builder_;
};

}  // namespace partita::multiplication
