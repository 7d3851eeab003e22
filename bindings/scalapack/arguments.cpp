#include "arguments.hpp"

#include <algorithm>

#include "blacs.hpp"

namespace partita::scalapack {

Coordinates Coordinates::of(int blacs_context) {
  Coordinates grid;
  blacs().gridinfo(blacs_context, &grid.rows, &grid.columns, &grid.row, &grid.column);
  return grid;
}

void Arguments::check(const SubMatrix& matrix, const MatrixPositions& positions, int blacs_context,
                      const Coordinates& grid) {
  const int descriptor = positions.descriptor;
  if (!grid.known()) return refuse(descriptor, Entry::context);
  if (matrix.rows < 0) refuse(positions.rows);
  if (matrix.columns < 0) refuse(positions.columns);
  if (matrix.row < 0) refuse(descriptor - 2);
  if (matrix.column < 0) refuse(descriptor - 1);
  if (!matrix.descriptor.known()) return refuse(descriptor, Entry::type);
  if (matrix.descriptor.context != blacs_context) return refuse(descriptor, Entry::context);
  check_deal(matrix, descriptor, grid);
  check_extents(matrix, descriptor);
  check_leading(matrix, descriptor, grid);
}

void Arguments::check_deal(const SubMatrix& matrix, int descriptor, const Coordinates& grid) {
  const Deal& rows = matrix.descriptor.rows;
  const Deal& columns = matrix.descriptor.columns;
  if (rows.first_block < 1) refuse(descriptor, Entry::first_row_block);
  if (columns.first_block < 1) refuse(descriptor, Entry::first_column_block);
  if (rows.block < 1) refuse(descriptor, Entry::row_block);
  if (columns.block < 1) refuse(descriptor, Entry::column_block);
  if (rows.source < -1 || rows.source >= grid.rows) refuse(descriptor, Entry::row_source);
  if (columns.source < -1 || columns.source >= grid.columns) refuse(descriptor, Entry::column_source);
}

void Arguments::check_extents(const SubMatrix& matrix, int descriptor) {
  const std::int64_t rows = matrix.descriptor.rows.extent;
  const std::int64_t columns = matrix.descriptor.columns.extent;
  const bool nothing = matrix.rows == 0 || matrix.columns == 0;
  const std::int64_t least = nothing ? 0 : 1;
  if (rows < least) refuse(descriptor, Entry::rows);
  if (columns < least) refuse(descriptor, Entry::columns);
  if (nothing || rows < 1 || columns < 1) return;
  if (matrix.row + matrix.rows > rows) refuse(descriptor - 2);
  if (matrix.column + matrix.columns > columns) refuse(descriptor - 1);
}

/// The gap below the local rows may be of any size, but where this process has columns its rows must fit.
/// Looked at only where nothing else is wrong: with wrong blocks the local rows mean nothing.
void Arguments::check_leading(const SubMatrix& matrix, int descriptor, const Coordinates& grid) {
  const Descriptor& given = matrix.descriptor;
  if (matrix.rows == 0 || matrix.columns == 0) {
    if (given.leading < 1) refuse(descriptor, Entry::leading);
    return;
  }
  if (worst_ != 0) return;
  const std::int64_t local_rows = given.rows.owned_below(given.rows.extent, grid.row, grid.rows);
  if (given.leading >= std::max<std::int64_t>(1, local_rows)) return;
  const std::int64_t local_columns =
      given.columns.owned_below(given.columns.extent, grid.column, grid.columns);
  if (given.leading < 1 || local_columns > 0) refuse(descriptor, Entry::leading);
}

}  // namespace partita::scalapack
