#include "linalg/panels.hpp"

#include "base/check.hpp"

namespace partita::linear {
namespace {

/// The width of the blocks if the layout is that of factors with blocks of some width; otherwise 0.
std::int64_t width_of(const Layout& layout) {
  const auto* const cyclic = layout.distribution().as<BlockCyclic>();
  if (cyclic == nullptr || !layout.members().empty() || layout.whole_shape() != layout.shape()) return 0;
  const Panels panels{layout.shape()[0], layout.shape()[1], cyclic->block[1], layout.ranks()};
  return layout.equivalent(panels.layout()) ? cyclic->block[1] : 0;
}

// One rank factorizes the whole matrix as one panel: the library chooses blocks for its caches. So it does
// with small ones, since handing over panels takes longer than what the other ranks would compute. Narrow
// panels shorten the time in which one rank works alone, wide ones make products faster.
constexpr std::int64_t most_on_one_rank = 256;

std::int64_t default_width(const Panels& panels, MemorySpace space) {
  if (panels.ranks == 1) return std::max<std::int64_t>(panels.columns, 1);
  if (space == MemorySpace::device) return 512;
  if (panels.columns <= most_on_one_rank && panels.rows <= most_on_one_rank)
    return std::max<std::int64_t>(panels.columns, 1);
  return std::clamp<std::int64_t>(panels.least() / 32, 64, 128);
}

}  // namespace

IndexSet Panels::owned(int rank, std::int64_t from, std::int64_t to) const {
  const IndexSet mine = IndexSet::cyclic(rank * width, width, width * ranks, columns);
  return intersect(mine, IndexSet::range(from, std::min(to, columns)));
}

Layout Panels::layout() const {
  return {BlockCyclic({1, ranks}, {std::max<std::int64_t>(rows, 1), width}), {rows, columns}, ranks};
}

Panels panels_of(const Operand& a, const FactorOptions& options) {
  check(options.block >= 0, "a factorization in blocks of {} columns", options.block);
  const Shape& shape = a.layout.shape();
  Panels panels{shape[0], shape[1], options.block, a.layout.ranks()};
  if (panels.width == 0 && options.overwrite) panels.width = width_of(a.layout);
  if (panels.width == 0) panels.width = default_width(panels, a.space);
  return panels;
}

bool in_place(const Operand& a, const FactorOptions& options) {
  return options.overwrite && a.dense && a.residency == Residency::heap && a.axis_order == Extents{1, 0} &&
         a.layout.equivalent(panels_of(a, options).layout());
}

Operand on_heap(Layout layout, Dtype dtype, MemorySpace space) {
  Operand operand = Operand::of(std::move(layout), dtype, Order::column_major, Residency::heap);
  operand.space = space;
  return operand;
}

Operand factor_operand(const Panels& panels, Dtype dtype, MemorySpace space) {
  return on_heap(panels.layout(), dtype, space);
}

Operand pivots_operand(Factorization kind, const Panels& panels, Dtype dtype, MemorySpace space) {
  return on_heap(Layout(Replicated(), {panels.least()}, panels.ranks),
                 kind == Factorization::qr ? dtype : Dtype::i32, space);
}

Operand status_operand(const Panels& panels, MemorySpace space) {
  return on_heap(Layout(Replicated(), {panels.count()}, panels.ranks), Dtype::i32, space);
}

}  // namespace partita::linear
