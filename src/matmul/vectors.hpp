// Operands of one dimension, seen as matrices: a row on the left, a column on the right, as in NumPy.
#pragma once

#include <partita/matmul.hpp>
#include <vector>

namespace partita::multiplication {

/// Which of the factors are vectors.
struct Vectors {
  bool a = false;
  bool b = false;

  Vectors(const Operand& a_, const Operand& b_)
      : a(a_.layout.dimensions() == 1), b(b_.layout.dimensions() == 1) {}
  explicit operator bool() const { return a || b; }
};

/// The operation on a vector: there is nothing to transpose.
Op without_transposition(Op op);

/// Where D gets dimensions of extent 1 to be a matrix, one after the other. Throws ArgumentError where D has
/// no room for them.
std::vector<int> missing_dimensions(const Shape& d, Vectors vectors);

/// A layout like that one, of the shape without the dimension `position` of extent 1: its
/// `distribution::with_dimension` is equivalent to it. Where no rule says so, boxes; in slabs where there are
/// none.
Layout without_dimension(const Layout& layout, int position);

/// A and B, and what has D's shape, as matrices.
Operand matrix_a(const Operand& a, Vectors vectors);
Operand matrix_b(const Operand& b, Vectors vectors);
Operand matrix_d(const Operand& d, Vectors vectors);

/// The same of a whole request. Throws ArgumentError where D's shape has no room for what is missing.
void see_as_matrices(MatmulOperands& operands, MatmulOptions& options);

}  // namespace partita::multiplication
