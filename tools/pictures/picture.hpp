// Who owns what, as a grid of cells; and the colours of ranks: the same in the terminal, in SVG and in PNG.
#pragma once

#include <cstdint>
#include <partita/layout.hpp>
#include <string>
#include <vector>

namespace partita::tools {

struct Colour {
  std::uint8_t red = 255;
  std::uint8_t green = 255;
  std::uint8_t blue = 255;
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// The first ten are distinguishable, also by most colour-blind eyes; further ones step round the colour
/// circle by the golden angle, so that neighbours differ.
Colour colour_of(int rank);

Colour blend(Colour a, Colour b, double share_of_b);
/// Black or white, whichever is easier to read on `background`.
Colour ink_on(Colour background);
std::string hexadecimal(Colour colour);  ///< "#4e79a7"
int nearest_of_256(Colour colour);       ///< of the terminal's 6 x 6 x 6 cube

/// The plane of an array that a picture shows: two dimensions (one, for a vector: `row` is -1), and a fixed
/// index along each other one.
struct Slice {
  int row = -1;
  int column = -1;
  Index at;
};

/// The first two dimensions with more than one element, in the middle of the others.
Slice usual_slice(const Shape& shape);

/// One cell of a picture: the elements [row range) x [column range).
struct Cell {
  std::vector<int> owners;  ///< of the largest part of the cell, in increasing order
  bool mixed = false;       ///< other ranks own the rest
  Colour colour;            ///< of the lowest owner; the mean over the parts of a mixed cell

  friend bool operator==(const Cell&, const Cell&) = default;
};

/// A picture of at most `most_rows` x `most_columns` cells. A larger array is scaled down, or, where its
/// pattern would blur, the first part of it is shown in cells as large as the pattern allows.
struct Picture {
  int rows = 0;
  int columns = 0;
  std::int64_t row_step = 1;  ///< elements that a cell represents (the last ones may be fewer)
  std::int64_t column_step = 1;
  bool whole = true;        ///< else only the first rows and columns
  std::vector<Cell> cells;  ///< row by row
  const Cell& at(int row, int column) const {
    return cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(column)];
  }
};
Picture paint(const Layout& layout, const Slice& slice, int most_rows, int most_columns);

/// "0", "0,2", "*" for a mixed cell.
std::string label_of(const Cell& cell);

/// A whole SVG file with a title and a legend of the ranks.
std::string svg_of(const Picture& picture, const Layout& layout, const Slice& slice);

/// "rows: axis 0, columns: axis 2, at index 5 of axis 1; ..." or nothing where there is nothing to say.
std::string describe(const Picture& picture, const Slice& slice, const Shape& shape);

}  // namespace partita::tools
