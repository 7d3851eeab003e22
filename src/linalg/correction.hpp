// Corrections of approximate solutions, with factors in lower precision.
#pragma once

#include <functional>
#include <partita/linalg.hpp>
#include <vector>

#include "linalg/numbers.hpp"

namespace partita::linear {

/// Linear maps of columns [n] or [n, r] in Slab(0), in one dtype and memory space.
struct Preconditioned {
  std::function<Array(const Array& columns)> multiply;  ///< op(A) X
  /// An approximation of op(A)^-1 X. `norms`: those of the columns.
  std::function<Array(const Array& columns, const std::vector<double>& norms)> solve;
};

/// The 2-norms of the columns of a vector or matrix, the same on every rank. Collective, blocking.
std::vector<double> norms_of_columns(const Array& columns);

/// The D for which the 2-norm of R - op(A) D is small, column by column, by flexible GMRES (Saad 1993) from
/// D = 0, which takes the same number of steps for all columns.
class Gmres {
 public:
  /// For columns like these, with at most `steps` steps.
  Gmres(const Array& like, int steps);

  /// Stops when the norms of all columns of R - op(A) D are estimated below `targets`, or after `steps`, at
  /// most as many as the object was made for. Collective, blocking.
  Array solve(const Preconditioned& system, const Array& residual, const std::vector<double>& targets,
              int steps);
  int steps_taken() const { return static_cast<int>(corrections_.size()); }

 private:
  /// The least-squares problem of one column: its upper triangular matrix and right-hand side.
  struct Column {
    std::vector<Numbers> triangle;  // by columns
    std::vector<double> cosines;
    Numbers sines;
    Numbers right;
    void append(Numbers hessenberg, double below);
    Numbers solution() const;
  };

  std::vector<Numbers> orthogonalize(Array& columns);
  Numbers project(Array& columns);
  Array combined() const;

  Shape sides_;  // [] or [r]
  int most_;
  Array basis_, products_, coefficients_;  // [most_, n(, r)], the same, and [most_, 1(, r)]
  std::vector<Array> corrections_;
  std::vector<Column> columns_;
};

}  // namespace partita::linear
