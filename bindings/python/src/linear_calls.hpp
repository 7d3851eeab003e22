// Linear algebra by name, into given arrays: for autograd and compiled programs, which own the memory of
// operands and results.
#pragma once

#include <partita/array.hpp>
#include <partita/op.hpp>
#include <span>
#include <string_view>

namespace partita::python {

/// Options of `run_linear`; each function reads those it has.
struct LinearOptions {
  Op op = Op::none;            ///< solve, lu_solve, solve_triangular
  bool upper = false;          ///< solve_triangular, cholesky, eigh: the triangle that is read
  bool unit_diagonal = false;  ///< solve_triangular
  bool right = false;          ///< solve_triangular: X op(T) = B
};

/// The functions, their operands and results, which have any layouts, and the dtype of A unless it is given:
/// - solve: A, B -> X with op(A) X = B
/// - lu: A -> the packed factors, pivots (i32, [n])
/// - lu_solve: packed factors, pivots, B -> X
/// - slogdet: A -> sign, logarithm (two numbers, the latter real); lu_slogdet: packed factors, pivots -> the
///   two numbers
/// - cholesky: A -> L or U
/// - solve_triangular: T, B -> X
/// - qr: A -> Q, R
/// - eigh: A -> eigenvalues (real), eigenvectors
/// - svd: A -> U, singular values (real), V^H
///
/// Collective; blocking, also on device memory, where the operands must have been written. Errors are those
/// of <partita/linalg.hpp>, the same on every rank; ArgumentError if no function has this name, or if it has
/// another number of operands or results.
void run_linear(std::string_view function, std::span<const Array> operands, std::span<Array> results,
                const LinearOptions& options);

}  // namespace partita::python
