// From regions to addresses: a region of a plan, between two places, as nests of strided loops.
#pragma once

#include <partita/plan.hpp>
#include <vector>

#include "kernels/host/copy.hpp"

namespace partita::execution {

/// One side of a copy: the index sets whose positions number the elements along each dimension, and the bytes
/// between neighbouring positions. For an operand: what the rank owns; for scratch: the region itself,
/// packed.
struct Side {
  Region owned;
  Strides byte_strides;
  std::int64_t byte_offset = 0;
};

/// The side that `place` describes for `region`. `own_strides` are the bound view's strides (in elements),
/// used for this rank's operands that are not dense.
Side side_of(const Plan& plan, const Place& place, const Region& region, const Strides& own_strides,
             std::int64_t item_bytes);

/// The copy of `region` from one side to the other, in as few nests as the intervals allow; all simplified.
std::vector<kernels::StridedCopy> lower(const Region& region, const Side& from, const Side& to,
                                        std::int64_t item_bytes);

/// The local part of an operand, with the bound view's strides (in elements) if it is not dense.
Side side_of(const Operand& operand, int rank, const Strides& own_strides, std::int64_t item_bytes);
/// The region alone, dense in that order of axes but for what a pitch (see Place) leaves between lines.
Side packed_side(const Region& region, const Extents& axis_order, std::int64_t item_bytes,
                 std::int64_t pitch = 0);

/// The copies of a step that moves data (of a fill: one-sided, see `destination_of`), with the bound
/// operands' strides by buffer.
std::vector<kernels::StridedCopy> lower(const Plan& plan, const Step& step,
                                        const std::vector<Strides>& strides);

/// By step: those of all steps that move data.
std::vector<std::vector<kernels::StridedCopy>> lower_moves(const Plan& plan,
                                                           const std::vector<Strides>& strides);

}  // namespace partita::execution
