// ScaLAPACK's array descriptors, of 9 and of 11 entries, and the checks of arguments that it makes, with its
// numbering (PB_Cchkmat of the PBLAS).
#pragma once

#include <cstdint>

namespace partita::scalapack {

/// How one dimension is distributed: a first block to process `source`, then blocks of `block` to the next
/// ones in turn.
struct Deal {
  std::int64_t extent = 0;
  std::int64_t first_block = 1;
  std::int64_t block = 1;
  int source = 0;  ///< -1: every process has all of it

  /// Indices below `index` that the process of this coordinate owns.
  std::int64_t owned_below(std::int64_t index, int coordinate, int processes) const;
  /// The coordinate of the process that owns an index; -1 if every process does.
  int owner(std::int64_t index, int processes) const;
};

struct Descriptor {
  static constexpr int dense = 1;        ///< DTYPE of 9 entries: DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD
  static constexpr int first_block = 2;  ///< of 11: DTYPE, CTXT, M, N, IMB, INB, MB, NB, RSRC, CSRC, LLD

  int type = dense;
  int context = -1;
  Deal rows;
  Deal columns;
  std::int64_t leading = 1;  ///< LLD

  bool known() const { return type == dense || type == first_block; }
};

/// Of an unknown type: only type and context are read.
Descriptor read_descriptor(const int* entries);

/// Entries as arguments are numbered in errors: counted from 1 in the descriptor of 11, whichever was given.
enum class Entry : int {
  type = 1,
  context,
  rows,
  columns,
  first_row_block,
  first_column_block,
  row_block,
  column_block,
  row_source,
  column_source,
  leading,
};

/// Positions of a matrix's arguments in the list of a routine. IA and JA stand right before the descriptor.
struct MatrixPositions {
  int rows;     ///< of the number of rows of the sub-matrix
  int columns;  ///< of the number of its columns
  int descriptor;
};

/// A sub-matrix as a caller names it: `rows` x `columns` from (row, column), counted from 0.
struct SubMatrix {
  Descriptor descriptor;
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// The place of this process in a BLACS grid; row -1: not in it; all -1: the grid does not exist.
struct Coordinates {
  int rows = -1;
  int columns = -1;
  int row = -1;
  int column = -1;

  static Coordinates of(int blacs_context);
  bool known() const { return rows != -1; }
  bool inside() const { return row >= 0 && row < rows && column >= 0 && column < columns; }
};

/// Keeps the first wrong argument of a call: the one that stands first in the list.
class Arguments {
 public:
  void refuse(int argument) { refuse_position(argument * 100); }
  void refuse(int argument, Entry entry) { refuse_position(argument * 100 + static_cast<int>(entry)); }
  /// All checks of one matrix on the grid of `blacs_context`.
  void check(const SubMatrix& matrix, const MatrixPositions& positions, int blacs_context,
             const Coordinates& grid);

  /// 100 i + j for entry j of argument i, i for a scalar; 0: nothing is wrong.
  int position() const { return worst_ % 100 == 0 ? worst_ / 100 : worst_; }

 private:
  void refuse_position(int position) { worst_ = worst_ == 0 || position < worst_ ? position : worst_; }
  void check_deal(const SubMatrix& matrix, int descriptor, const Coordinates& grid);
  void check_extents(const SubMatrix& matrix, int descriptor);
  void check_leading(const SubMatrix& matrix, int descriptor, const Coordinates& grid);

  int worst_ = 0;
};

}  // namespace partita::scalapack
