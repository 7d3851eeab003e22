// What every rank has a share of: the gradient of a bias, of which each sums what it holds, and the amax of
// each computes. The contributions are reduced afterwards.
#include <algorithm>
#include <utility>
#include <vector>

#include "matmul/emit/assembly.hpp"

namespace partita::multiplication {
namespace {

// Of the holders of a contribution the first one.
bool counts_in_sums(const Layout& layout, const Region& own, int rank) {
  const std::vector<std::vector<int>> contributions = layout.cells(own).front().contributions;
  return std::ranges::any_of(contributions,
                             [&](const std::vector<int>& holders) { return holders.front() == rank; });
}

}  // namespace

// A contribution to all elements, of the compute dtype.
Operand Assembly::share_of_a_rank(const Operand& whole, Reduction reduction) const {
  const Shape& shape = whole.layout.shape();
  PartitionSpec spec;
  spec.dimensions.resize(static_cast<std::size_t>(shape.size()));
  spec.partial_axes = {"rank"};
  spec.partial_reduction = reduction;
  const int ranks = buffers_.problem.ranks();
  Operand share = Operand::of(Layout(Partitioned{Mesh({{"rank", ranks}}), spec}, shape, ranks),
                              buffers_.problem.compute, Order::row_major, Residency::heap);
  share.space = whole.space;
  return share;
}

Operand Assembly::gradient_of_a_rank() const {
  return share_of_a_rank(*buffers_.problem.gradient, Reduction::sum);
}

// The sum of them, of the compute dtype.
Operand Assembly::gradient_summed() const {
  Operand wide = in_scratch(*buffers_.problem.gradient, buffers_.problem.gradient->layout);
  wide.dtype = buffers_.problem.compute;
  return wide;
}

// sum over k of op(A)[i, k]: an element counts once, on its first holder; contributions count all.
void Assembly::sum_gradient() {
  const Problem& problem = buffers_.problem;
  if (given_gradient_ < 0) return;
  const Operand share = gradient_of_a_rank();
  buffers_.gradient = builder_.add_array("gradient of a rank", share);
  const Region part = share.layout.region(plan_.rank);
  if (!part.empty()) builder_.fill(Reduction::sum, part, builder_.own(buffers_.gradient));
  if (problem.epilogue.gradient_of_d) return;
  const bool of_a = problem.epilogue.gradient_of_a;
  const Operand& operand = problem.input(of_a);
  const Region own = operand.layout.region(plan_.rank);
  if (own.empty()) return;
  if (!counts_in_sums(operand.layout, own, plan_.rank)) return;
  SumAlong work;
  work.from = {own, builder_.own(buffers_.input(of_a).buffer)};
  work.axis = operand.layout.dimensions() - (of_a ? 2 : 1);
  work.conjugate = of_a ? problem.conjugate_a : problem.conjugate_b;
  work.to = {{{own.sets[static_cast<std::size_t>(work.axis)]}}, builder_.own(buffers_.gradient)};
  builder_.compute(std::move(work));
}

void Assembly::deliver_gradient() {
  if (given_gradient_ < 0) return;
  const Operand& given = operand_of(given_gradient_);
  if (given.dtype == buffers_.problem.compute)
    return append_redistribution(buffers_.gradient, given_gradient_);
  const Operand wide = gradient_summed();
  const int sums = builder_.add_array("gradient summed", wide);
  append_redistribution(buffers_.gradient, sums);
  const Region own = wide.layout.region(plan_.rank);
  if (own.empty()) return;
  ApplyEpilogue narrow;
  narrow.from = {own, builder_.own(sums)};
  narrow.to = {own, builder_.own(given_gradient_)};
  builder_.compute(std::move(narrow));
}

// 0 where the rank makes nothing.
void Assembly::open_amax() {
  if (given_amax_ < 0) return;
  const Operand share = share_of_a_rank(*buffers_.problem.amax_d, Reduction::max);
  buffers_.amax = builder_.add_array("amax of a rank", share);
  builder_.fill(Reduction::sum, share.layout.region(plan_.rank), builder_.own(buffers_.amax));
}

}  // namespace partita::multiplication
