// The checks of arguments that ScaLAPACK makes, with its numbering (PB_Cchkmat of the PBLAS).
#pragma once

#include <cstdint>

#include "descriptor.hpp"

namespace partita::scalapack {

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

/// Where this process sits in a BLACS grid; row -1: not in it; all -1: there is no such grid.
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
