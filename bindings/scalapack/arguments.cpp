#include "arguments.hpp"

#include <algorithm>

#include "blacs.hpp"

namespace partita::scalapack {

// Blocks 0, 1, ... : the first of length first_block, to `source`; block b to (source + b) mod processes.
std::int64_t Deal::owned_below(std::int64_t index, int coordinate, int processes) const {
  index = std::clamp<std::int64_t>(index, 0, extent);
  if (source < 0 || processes == 1) return index;
  const std::int64_t turn = (coordinate - source + processes) % processes;
  const std::int64_t in_first = turn == 0 ? std::min(index, first_block) : 0;
  if (index <= first_block) return in_first;
  const std::int64_t rest = index - first_block;
  const std::int64_t whole = rest / block;                   // blocks 1 .. whole are complete
  const std::int64_t before = turn == 0 ? processes : turn;  // this process's first of the blocks from 1 on
  const std::int64_t mine = whole < before ? 0 : (whole - before) / processes + 1;
  const bool partial = (whole + 1) % processes == turn;
  return in_first + mine * block + (partial ? rest % block : 0);
}

int Deal::owner(std::int64_t index, int processes) const {
  if (source < 0) return -1;
  const std::int64_t number = index < first_block ? 0 : 1 + (index - first_block) / block;
  return static_cast<int>((source + number) % processes);
}

Descriptor read_descriptor(const int* entries) {
  Descriptor result;
  result.type = entries[0];
  result.context = entries[1];
  if (!result.known()) return result;
  const bool first = result.type == Descriptor::first_block;
  const int* const blocks = first ? entries + 6 : entries + 4;
  result.rows = {entries[2], entries[4], blocks[0], blocks[2]};
  result.columns = {entries[3], entries[5], blocks[1], blocks[3]};
  result.leading = blocks[4];
  return result;
}

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
