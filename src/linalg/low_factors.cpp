#include "linalg/low_factors.hpp"

#include <algorithm>
#include <cmath>
#include <partita/astype.hpp>
#include <partita/elementwise.hpp>

#include "linalg/correction.hpp"

namespace partita::linear {

Dtype lower_dtype(Dtype dtype) {
  if (dtype == Dtype::f64) return Dtype::f32;
  return dtype == Dtype::c128 ? Dtype::c64 : dtype;
}

namespace {

/// Norms from 2^-60 to 2^60 leave room in f32 for small elements and for the growth of factors.
constexpr int unscaled_exponent = 60;

bool needs_scales(const std::vector<double>& norms) {
  return std::ranges::any_of(
      norms, [](double norm) { return norm != 0 && std::abs(std::ilogb(norm)) > unscaled_exponent; });
}

/// A power of two in the range of the dtype.
double inverse_power(double norm, Dtype dtype) {
  const int largest = dtype == Dtype::f32 || dtype == Dtype::c64 ? 126 : 1022;
  return norm == 0 ? 1 : std::ldexp(1.0, std::clamp(-std::ilogb(norm), -largest, largest));
}

Numbers inverse_powers(const std::vector<double>& norms, Dtype dtype) {
  Numbers result;
  for (const double norm : norms) result.emplace_back(inverse_power(norm, dtype));
  return result;
}

/// Columns of a norm of about 1, and the powers of two that they were divided by.
class NormalizedColumns {
 public:
  NormalizedColumns(const Array& columns, const std::vector<double>& norms)
      : sides_(columns.shape().size() == 1 ? Shape{1} : Shape{columns.shape()[1]}) {
    divide(columns, norms);
  }
  void divide(const Array& columns, const std::vector<double>& norms) {
    Numbers inverses = inverse_powers(norms, columns.dtype());
    columns_ = columns * replicated_numbers(columns, sides_, inverses);
    for (auto& number : inverses) number = 1.0 / number;
    sizes_.push_back(replicated_numbers(columns, sides_, inverses));
  }
  Array& columns() { return columns_; }
  void multiply_by_sizes(Array& columns) const {
    for (const Array& size : sizes_) multiply(columns, size, columns);
  }

 private:
  Shape sides_;
  Array columns_;
  std::vector<Array> sizes_;
};

/// `scales` [n] times the rows of a vector or matrix.
void scale_rows(Array& array, const Array& scales) {
  if (array.shape().size() == 1) return multiply(array, scales, array);
  // A column [n, 1] is a view of [n] that is not made here: the transposed array is multiplied by a row.
  Array transposed = array.permuted({1, 0});
  multiply(transposed, scales, transposed);
}

}  // namespace

LowFactors::LowFactors(Factorization method, const Array& a, const Norms& norms, ComputeType compute,
                       SourcePlace where) {
  const bool scales = needs_scales(norms.rows) || needs_scales(norms.columns);
  const ArrayOptions as_factors{.order = Order::column_major, .space = a.local().space};
  const Array low = astype(scales ? scaled_copy(method, a, norms) : a, lower_dtype(a.dtype()), as_factors);
  const FactorOptions options{.overwrite = true, .compute = compute};
  factors_ = std::make_unique<Factors>(method, low, options, where);
  if (factors_->first_zero() >= 0) throw_singular("solve_refined", "U", factors_->first_zero());
}

// Cholesky factors are of A times one number, which keeps it Hermitian.
Array LowFactors::scaled_copy(Factorization method, const Array& a, const Norms& norms) {
  const Shape side{a.shape()[0]};
  Array scaled = clone(a);
  if (method == Factorization::cholesky) {
    const std::vector<double> largest(norms.rows.size(), std::ranges::max(norms.rows));
    rows_ = replicated_numbers(a, side, inverse_powers(largest, a.dtype()));
    scale_rows(scaled, *rows_);
    return scaled;
  }
  rows_ = replicated_numbers(a, side, inverse_powers(norms.rows, a.dtype()));
  scale_rows(scaled, *rows_);
  columns_ = replicated_numbers(a, side, inverse_powers(norms_of_columns(scaled), a.dtype()));
  multiply(scaled, *columns_, scaled);
  return scaled;
}

// A^-1 = C (R A C)^-1 R
Array LowFactors::solve(const Array& b, const std::vector<double>& norms, Op op) const {
  const std::optional<Array>&first = transposes(op) ? columns_ : rows_,
        &last = transposes(op) ? rows_ : columns_;
  NormalizedColumns right(b, norms);
  if (first) {
    scale_rows(right.columns(), *first);
    right.divide(right.columns(), norms_of_columns(right.columns()));
  }
  const Array low = astype(right.columns(), lower_dtype(b.dtype()));
  SolveOptions options;
  options.distribution = Slab(0);
  Array x =
      astype(factors_->apply(factors_->checked_job(op), low, options, SourcePlace::current()), b.dtype());
  if (last) scale_rows(x, *last);
  right.multiply_by_sizes(x);
  return x;
}

}  // namespace partita::linear
