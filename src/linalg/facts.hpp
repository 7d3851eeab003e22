// What the plans of linear algebra share: names, checks and the passes that solve with factors.
#pragma once

#include <optional>
#include <partita/linalg.hpp>
#include <partita/work.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "plan/solve_steps.hpp"

namespace partita::linear {

/// "cholesky", "lu" or "qr". Literals.
std::string_view factorization_name(Factorization kind);

bool transposes(Op op);

/// Throws ArgumentError for anything but a matrix in f32, f64, c64 or c128, square for Cholesky.
void check_factorized(Factorization kind, const Operand& a);
/// The same of a matrix that is named in the text.
void check_matrix(std::string_view operation, std::string_view what, const Operand& a);

/// Throws UnsupportedError for a precision that products of this dtype do not have.
void check_compute(Factorization kind, Dtype dtype, ComputeType compute);

/// What one of several redistributions of a plan may take of a limit of its scratch; 0: there is none.
std::int64_t staging_within(std::int64_t limit, int redistributions, int ranks);
/// Throws ArgumentError where the plan's scratch exceeds the limit; 0: there is none.
void check_memory(const Plan& plan, std::int64_t limit);

/// `factor`: "U".
[[noreturn]] void throw_singular(std::string_view operation, std::string_view factor, std::int64_t index);
/// Of Cholesky: the leading minor of order `index` + 1 is not positive.
[[noreturn]] void throw_indefinite(std::int64_t index);

/// Throws ArgumentError where B or X do not suit the matrix in shape or dtype, and what passes_of throws.
void check_sides(Factorization kind, const Operand& a, const Operand& b, const Operand& x, Op op);

/// One way through all panels, each of which is applied to the right-hand sides.
struct Pass {
  enum class Kind : std::uint8_t {
    lower,       ///< X = op(L)^-1 X, by the lower triangle
    upper,       ///< X = op(U)^-1 X, by the upper triangle
    reflectors,  ///< X = Q X, or Q^H X if op is the conjugate transpose
  } kind = Kind::lower;
  Op op = Op::none;
  bool unit_diagonal = false;
  bool exchanges = false;  ///< with the row exchanges of each panel: L of an LU factorization

  bool transposes() const { return op == Op::transpose || op == Op::conjugate_transpose; }
  /// Whether panels are taken from the first to the last.
  bool forward() const { return kind == Kind::lower ? !transposes() : transposes(); }
  /// The rows of panel k that are read.
  template <class Panels>
  auto rows(const Panels& panels, int k) const {
    return kind == Kind::upper ? panels.rows_up_to(k) : panels.rows_from(k);
  }
  /// to = op(T)^-1 to, by a triangle on the diagonal.
  TriangularSolve solve(Part triangle, Part to) const;
  /// to -= op(T) from, by other rows of a panel; `beta`: or to = -op(T) from.
  Multiply subtract(Part panel, Part from, Part to, Beta beta = Beta::one) const;
};

/// "lower none unit exchanged, upper none".
std::string to_string(const std::vector<Pass>& passes);

/// What solves op(A) X = B. Throws UnsupportedError where Q would have to be transposed without conjugation.
std::vector<Pass> passes_of(Factorization kind, Op op, Dtype dtype);

struct PlannedPasses {
  Plan plan;
  std::optional<planning::SolveSteps> steps;  ///< what devices may do otherwise
};

/// A plan of passes; `identity` is part of the plan. `a` is the matrix that was factorized, `b` and `x` have
/// two dimensions: as many rows as A has rows or columns. Rows of the result beyond those of X are dropped,
/// rows of B that are missing are zero. See plan_solve for the rest.
/// `factorized_in`: where the factors are kept; the plan may take a copy elsewhere.
PlannedPasses plan_passes(std::string_view operation, const std::vector<Pass>& passes, Factorization kind,
                          const Operand& a, const Operand& b, const Operand& x, const Topology& topology,
                          int rank, const FactorOptions& options, const Machine& machine, bool in_place,
                          MemorySpace factorized_in);

/// The factors as LAPACK stores them, from and to an array of the shape of A. LU in whole columns: the row
/// exchanges of a panel are applied to the panels on its left, or are undone there. Buffers: 0 the source, 1
/// the destination, 2 the pivots; then scratch. The array is `other`; `packs`: it is the destination.
Plan plan_packing(Factorization kind, const Operand& a, const Operand& other, const Topology& topology,
                  int rank, const FactorOptions& options, const Machine& machine, bool packs,
                  MemorySpace factorized_in);

}  // namespace partita::linear
