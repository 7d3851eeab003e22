#include "matrix.hpp"

#include <algorithm>

#include "blacs.hpp"

namespace partita::scalapack {
namespace {

/// A part of one dimension in blocks of one length: `source` owns the first, of which `lower` indices are
/// before the part.
struct EqualBlocks {
  std::int64_t block = 1;
  int source = 0;
  std::int64_t lower = 0;
};

/// [from, from + length) of the deal. A first block that is shorter than the others is a block that has begun
/// before.
std::optional<EqualBlocks> equal_blocks(const Deal& deal, std::int64_t from, std::int64_t length,
                                        int processes) {
  if (processes == 1) return EqualBlocks{std::max<std::int64_t>(length, 1), 0, 0};
  if (deal.source < 0) return std::nullopt;
  if (from >= deal.first_block) {
    const std::int64_t behind = from - deal.first_block;
    const auto turn = static_cast<int>((behind / deal.block + 1) % processes);
    return EqualBlocks{deal.block, (deal.source + turn) % processes, behind % deal.block};
  }
  const std::int64_t left = deal.first_block - from;
  if (length <= left) return EqualBlocks{std::max(deal.block, length), deal.source, 0};
  if (left > deal.block) return std::nullopt;
  return EqualBlocks{deal.block, deal.source, deal.block - left};
}

}  // namespace

std::optional<Layout> layout_of(const SubMatrix& matrix, const Coordinates& grid) {
  const Descriptor& given = matrix.descriptor;
  const auto rows = equal_blocks(given.rows, matrix.row, matrix.rows, grid.rows);
  const auto columns = equal_blocks(given.columns, matrix.column, matrix.columns, grid.columns);
  if (!rows || !columns) return std::nullopt;
  ProcessGrid processes({grid.rows, grid.columns}, Order::row_major, {rows->source, columns->source});
  const Shape whole{rows->lower + matrix.rows, columns->lower + matrix.columns};
  const Layout deal(BlockCyclic(std::move(processes), {rows->block, columns->block}), whole,
                    grid.rows * grid.columns);
  return deal.window({rows->lower, columns->lower}, {matrix.rows, matrix.columns});
}

void report_unsupported(const char* routine, const SubMatrix& matrix, int descriptor) {
  const Deal& rows = matrix.descriptor.rows;
  const Deal& columns = matrix.descriptor.columns;
  Arguments arguments;
  arguments.refuse(descriptor, rows.source < 0                 ? Entry::row_source
                               : columns.source < 0            ? Entry::column_source
                               : rows.first_block > rows.block ? Entry::first_row_block
                                                               : Entry::first_column_block);
  report_argument(matrix.descriptor.context, routine, arguments.position());
}

View view_of(const SubMatrix& matrix, const Coordinates& grid, const Layout& layout, void* local,
             Dtype dtype) {
  const Descriptor& given = matrix.descriptor;
  const Shape extents = layout.local_shape(grid.row * grid.columns + grid.column);
  View view{nullptr, dtype, extents, {1, given.leading}, MemorySpace::host};
  if (volume(extents) == 0) return view;
  const std::int64_t row = given.rows.owned_below(matrix.row, grid.row, grid.rows);
  const std::int64_t column = given.columns.owned_below(matrix.column, grid.column, grid.columns);
  view.data = static_cast<char*>(local) + (row + column * given.leading) * size_of(dtype);
  return view;
}

Operand operand_of(const Layout& layout, Dtype dtype) {
  Operand operand = Operand::of(layout, dtype, Order::column_major, Residency::ordinary);
  operand.dense = false;
  return operand;
}

Array array_of(Grid& grid, const SubMatrix& matrix, const Layout& layout, void* local, Dtype dtype) {
  return wrap(grid.context(), view_of(matrix, grid.coordinates(), layout, local, dtype),
              operand_of(layout, dtype));
}

}  // namespace partita::scalapack
