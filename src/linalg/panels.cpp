#include "linalg/panels.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "linalg/facts.hpp"

namespace partita::linear {
namespace {

/// The panels of which a matrix in this layout consists; nothing if there are none.
std::optional<Panels> panels_in(const Layout& layout) {
  const auto* const cyclic = layout.distribution().as<BlockCyclic>();
  if (cyclic == nullptr || !layout.members().empty() || layout.whole_shape() != layout.shape()) return {};
  const Panels panels{layout.shape()[0], layout.shape()[1], cyclic->block[1], layout.ranks(),
                      static_cast<int>(cyclic->grid.extents()[0])};
  if (panels.ranks % panels.grid_rows != 0 || !layout.equivalent(panels.layout())) return {};
  return panels;
}

void check_grid(Factorization kind, const FactorOptions& options, int ranks) {
  const Extents& grid = options.grid;
  if (grid.empty()) return;
  check(grid.size() == 2 && grid[0] > 0 && grid[1] > 0 && grid[0] * grid[1] == ranks,
        "{}: a grid of {} is not one of {} ranks in rows and columns", factorization_name(kind),
        partita::to_string(grid), ranks);
  if (grid[0] == 1) return;
  check<UnsupportedError>(
      kind != Factorization::qr,
      "qr: QR is not computed on grids of several rows, but the grid is {}; use {{1, {}}}",
      partita::to_string(grid), ranks);
  check<UnsupportedError>(
      kind != Factorization::lu || options.pivoting != Pivoting::partial,
      "lu: partial pivoting is not computed on grids of several rows, but the grid is {}; "
      "use {{1, {}}} or tournament pivoting",
      partita::to_string(grid), ranks);
}

}  // namespace

IndexSet Panels::owned(int rank, std::int64_t from, std::int64_t to) const {
  const IndexSet mine = IndexSet::cyclic(column_of(rank) * width, width, width * grid_columns(), columns);
  return intersect(mine, IndexSet::range(from, std::min(to, columns)));
}

IndexSet Panels::rows_of(int grid_row) const {
  return on_grid() ? blocks(grid_row, grid_rows, 0, rows) : IndexSet::range(0, rows);
}

IndexSet Panels::blocks(int remainder, int period, int from, std::int64_t extent) const {
  const int first = from + (remainder - from % period + period) % period;
  return IndexSet::cyclic(first * width, width, width * period, extent);
}

Layout Panels::layout() const {
  const std::int64_t height = on_grid() ? width : std::max<std::int64_t>(rows, 1);
  return {BlockCyclic({grid_rows, grid_columns()}, {height, width}), {rows, columns}, ranks};
}

Panels panels_of(Factorization kind, const Operand& a, const FactorOptions& options, const Topology& topology,
                 const Machine& machine) {
  check(options.block >= 0, "a factorization in blocks of {} columns", options.block);
  const Shape& shape = a.layout.shape();
  Panels panels{shape[0], shape[1], options.block, a.layout.ranks(), 0};
  check_grid(kind, options, panels.ranks);
  if (!options.grid.empty()) panels.grid_rows = static_cast<int>(options.grid[0]);
  if (options.overwrite) {
    const std::optional<Panels> own = panels_in(a.layout);
    const bool on_grids =
        panels.grid_rows > 0 ? may_have_grid(kind, a, options) : looks_for_grid(kind, a, options, topology);
    const bool computable = own && (on_grids || !own->on_grid());
    const auto suits = [](auto wanted, auto found) { return wanted == 0 || wanted == found; };
    if (computable && suits(panels.width, own->width) && suits(panels.grid_rows, own->grid_rows)) return *own;
  }
  if (panels.width > 0 && panels.grid_rows > 0) return panels;
  const Panels chosen = choose_panels(kind, panels, a, options, topology, machine);
  if (options.block > 0 || options.memory_limit <= 0) return chosen;
  return narrowed(chosen, a, topology, options.memory_limit / 2);
}

bool in_place(const Panels& panels, const Operand& a, const FactorOptions& options) {
  return options.overwrite && a.dense && a.residency == Residency::heap && a.axis_order == Extents{1, 0} &&
         a.layout.equivalent(panels.layout());
}

std::string to_string(const Panels& panels) {
  const std::string where = panels.on_grid()
                                ? fmt::format("on a grid of {}x{}", panels.grid_rows, panels.grid_columns())
                                : fmt::format("cyclically over {}", panels.ranks);
  return fmt::format("{} panels of {} columns, {} ranks", panels.count(), panels.width, where);
}

FactorOptions options_of(const Panels& panels, FactorOptions options) {
  options.block = panels.width;
  options.grid = {panels.grid_rows, panels.grid_columns()};
  return options;
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
  const Distribution how = panels.on_grid()
                               ? Distribution::parse(fmt::format("mesh:r={}:-;partial=sum:r", panels.ranks))
                               : Distribution(Replicated());
  return on_heap(Layout(how, {panels.count()}, panels.ranks), Dtype::i32, space);
}

}  // namespace partita::linear
