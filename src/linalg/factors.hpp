// Factors of a matrix on the symmetric heap: what Cholesky, Lu and Qr consist of.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <partita/linalg.hpp>
#include <string_view>
#include <vector>

#include "array/array_state.hpp"
#include "context/plan_key.hpp"
#include "linalg/facts.hpp"
#include "linalg/operation.hpp"
#include "linalg/panels.hpp"

namespace partita::linear {

/// Functions are collective and blocking unless they say otherwise; see <partita/linalg.hpp>.
class Factors {
 public:
  /// Factorizes.
  Factors(Factorization kind, const Array& a, const FactorOptions& options, SourcePlace where);
  /// Factors that LAPACK has computed, in an array of any layout. `pivots`: as Lu::pivots, or the scalar
  /// factors of reflectors, in any layout; not valid for Cholesky. Without pivots the array may be used in
  /// place, if `borrows`.
  struct Given {
    Array packed, pivots;
    bool borrows = false;
  };
  Factors(Factorization kind, const Given& given, SourcePlace where);

  void factorize(const Array& a);

  /// A solve, or another use of the factors on several columns.
  struct Job {
    std::string_view operation;  // a literal
    std::vector<Pass> passes;
    std::int64_t rows_of_b = 0, rows_of_x = 0;
  };
  /// Throws ArgumentError, the same on every rank, where B does not suit.
  void check_sides_together(const Job& job, const Array& b) const;
  Array apply(const Job& job, const Array& b, const SolveOptions& options, SourcePlace where) const;
  void apply_into(const Job& job, const Array& b, Array& x, const SolveOptions& options) const;
  /// Of op(A) X = B. Throws what solve throws of the matrix.
  Job solve_job(Op op) const;
  /// The same; what it throws on one rank, all throw.
  Job checked_job(Op op) const;
  /// Of Q B.
  Job q_job(Op op) const;

  /// The triangle of the factors and zeros elsewhere: [m, n] (lower) or [min(m, n), n] (upper).
  Array triangle(bool lower, SourcePlace where) const;
  Array q(SourcePlace where) const;
  /// A^-1, of a square matrix.
  Array inverse(SourcePlace where) const;
  /// As LAPACK stores the factors, in A's layout, order, residency and space.
  Array packed(SourcePlace where) const;
  void pack_into(Array& array) const;
  /// LAPACK's pivots, counted from 0, or the scalar factors of reflectors; replicated.
  Array pivots(SourcePlace where) const;
  LogDeterminant log_determinant() const;
  /// |A| |A^-1|, estimated; see Lu::condition.
  double condition(double norm, MatrixNorm which) const;

  const std::shared_ptr<ContextState>& context() const { return context_; }
  const Shape& shape() const { return matrix_.layout.shape(); }
  /// Of LU and QR: the first zero on the diagonal of U or R; -1: none. Local.
  std::int64_t first_zero() const { return first_zero_; }
  /// The first zero on the diagonal, looked for; -1: none.
  std::int64_t find_zero() const;
  void require_factorized() const;
  /// Null if the factors were given.
  const LinearOperation* factoring() const { return factoring_.get(); }

 private:
  const Operand& factor() const { return factor_.state()->operand; }
  /// The panels of such a matrix, in these options.
  Panels panels_for(const Operand& a, const FactorOptions& options) const {
    return panels_of(kind_, a, options, context_->topology(a.space), context_->machine);
  }
  std::string_view name() const { return factorization_name(kind_); }
  void check_matrix_given(const Array& a) const;
  void check_sides(const Job& job, const Array& b) const;
  std::shared_ptr<LinearOperation> make_factoring(const Operand& a) const;
  std::shared_ptr<LinearOperation> make_job(const Job& job, const Operand& b,
                                            const std::function<Operand()>& x, const contexts::PlanKey& of_x,
                                            bool in_place, const SolveOptions& options) const;
  /// Columns of the unit matrix, to which factors are applied in place.
  Array unit_matrix(std::int64_t columns, SourcePlace where) const;
  void run_packing(const Array& other, bool packs) const;
  void factorize_new(const Array& a, SourcePlace where);
  void allocate_beside(SourcePlace where);
  void take_pivots(const Array& given);
  void read_status();
  /// The least of what all ranks give, where they do not give -1; collective.
  std::int64_t first_of_all_ranks(std::int64_t index) const;
  Array new_like_factor(std::int64_t rows, SourcePlace where) const;

  Factorization kind_;
  Operand matrix_;
  std::shared_ptr<ContextState> context_;  // declared before the plans, which it outlives
  FactorOptions options_;
  Panels panels_;
  std::shared_ptr<LinearOperation> factoring_;  // null: the factors were given
  Array factor_, pivots_, status_;
  bool owns_factor_ = false;  // not the caller's array
  bool factorized_ = false;
  std::int64_t first_zero_ = -1;
};

/// Throws ArgumentError for right-hand sides B [rows] or [rows, r] of another shape, dtype or context. Local.
void check_right_hand_sides(std::string_view operation, const ContextState& context, Dtype dtype,
                            std::int64_t rows, const Array& b);

/// How plans see one right-hand side [n]: as a column [n, 1].
Operand as_columns(const Operand& operand);
std::vector<int> axes_of_columns(const Operand& operand);

/// The X of the smallest 2-norm with A X = B, for A with fewer rows than columns.
Array least_norm(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where);

}  // namespace partita::linear
