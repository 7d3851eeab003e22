// Matrices of one context, dtype and memory space, in the distribution of factorizations.
#pragma once

#include <partita/eigen.hpp>
#include <partita/matmul.hpp>
#include <vector>

namespace partita::eigen {

/// Makes matrices in columns, cyclically in blocks over all ranks, column-major on the heap. Functions are
/// collective and blocking unless they say otherwise.
class Matrices {
 public:
  /// Like this one in context, dtype and space.
  explicit Matrices(const Array& like);

  Array empty(std::int64_t rows, std::int64_t columns) const;
  Array unit(std::int64_t rows, std::int64_t columns) const;
  /// A copy, of this array or view.
  Array copied(const Array& array) const;
  /// An array [n] of these in the dtype of the parts of elements, replicated.
  Array replicated(const std::vector<double>& values) const;
  /// op(A) op(B), alpha times.
  Array product(const Array& a, Op op_a, const Array& b, Op op_b, double alpha = 1) const;
  /// alpha op(A) op(B) + beta C.
  Array product(const Array& a, Op op_a, const Array& b, Op op_b, double alpha, double beta,
                const Array& c) const;
  /// A^H.
  Array adjoint(const Array& a) const;
  /// The Hermitian matrix whose lower triangle is given.
  Array from_lower(const Array& a) const;
  /// (A + A^H) / 2.
  Array hermitian_part(const Array& a) const;
  /// The real parts of the diagonal of a square matrix, on every rank.
  std::vector<double> diagonal(const Array& a) const;

  /// Columns that are orthonormal, made from columns of which the first are and the others may be shorter or
  /// zero: the first ones stay, others are replaced by what is orthogonal to them.
  Array completed(const Array& columns) const;

  const Context& context() const { return context_; }
  Dtype dtype() const { return dtype_; }
  MemorySpace space() const { return space_; }
  /// In the layout of `like` if the shape is the same, otherwise in a slab: the result of a call.
  Array result(const Array& own, const Array& like, SourcePlace where) const;
  /// Of the parts of elements.
  Dtype real_dtype() const;
  double epsilon() const;  ///< the distance from 1 to the next number

 private:
  Distribution distribution(std::int64_t rows, std::int64_t columns) const;
  MatmulOptions options(Op op_a, Op op_b, const Array& a, const Array& b) const;

  Context context_;
  Dtype dtype_;
  MemorySpace space_;
};

/// The leading [0, rows) x [0, columns), or another part, as a view.
Array part(const Array& a, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns);

/// Throws ArgumentError, the same on every rank, unless all elements are finite. Collective.
void check_finite(std::string_view operation, const Array& a);
/// What the ranks compare of options. Throws ArgumentError: `operation` has no such option, or A [.., n, n]
/// no such eigenvalues.
Fact fact_of(std::string_view operation, const EigenOptions& options, const Shape& shape);
/// Throws ArgumentError, the same on every rank, unless it is a matrix in a supported dtype, and square if
/// asked; DisagreementError if the ranks have other matrices or options. Collective.
void check_argument(std::string_view operation, const Array& a, bool square,
                    const EigenOptions& options = {});

}  // namespace partita::eigen
