// Norms of matrices and of their inverses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <partita/array_reductions.hpp>
#include <partita/redistribute.hpp>

#include "array/elements.hpp"
#include "array/pieces.hpp"
#include "base/check.hpp"
#include "distribution/local_indices.hpp"
#include "kernels/host/lapack_library.hpp"
#include "linalg/factors.hpp"
#include "linalg/numbers.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace linear {
namespace {

// --- norms

/// Adds the absolute values of a piece of the rank's part to `sums`, by column or by row of the matrix.
template <class T>
void add_magnitudes(const View& piece, const std::vector<std::int64_t>& indices, bool by_columns,
                    std::vector<double>& sums) {
  const int across = by_columns ? 1 : 0, along = 1 - across;
  const bool sums_inside = piece.strides[along] < piece.strides[across];
  const auto* const first = static_cast<const T*>(piece.data);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return static_cast<double>(std::abs(first[i * piece.strides[across] + j * piece.strides[along]]));
  };
  const auto sum_of = [&](std::int64_t i) -> double& {
    return sums[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])];
  };
  const std::int64_t width = piece.extents[across], length = piece.extents[along];
  if (sums_inside) {
    for (std::int64_t i = 0; i < width; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < length; ++j) sum += at(i, j);
      sum_of(i) += sum;
    }
    return;
  }
  for (std::int64_t j = 0; j < length; ++j) {
    for (std::int64_t i = 0; i < width; ++i) sum_of(i) += at(i, j);
  }
}

/// This rank's contributions to the sums of all columns, or of all rows.
std::vector<double> local_sums(const Array& a, bool by_columns) {
  ContextState& context = *a.context_state();
  const int across = by_columns ? 1 : 0;
  std::vector<double> sums(static_cast<std::size_t>(a.shape()[across]));
  const Layout& layout = a.layout();
  if (layout.is_replicated() && !arrays::is_first_holder(layout, context.rank())) return sums;
  const Region held = layout.region(context.rank());
  arrays::HostPiece memory;
  arrays::for_each_piece(a.local(), arrays::piece_bytes, [&](const Extents& lower, const Extents& extents) {
    const View here = memory.bring(context, arrays::piece_of(a.local(), lower, extents));
    const auto indices = distribution::local_indices(held, across, lower[across], extents[across]);
    kernels::visit_lapack_dtype(a.dtype(), "norm", [&]<class T>(TypeTag<T> /*tag*/) {
      add_magnitudes<T>(here, indices, by_columns, sums);
    });
  });
  return sums;
}

double checked_norm(std::string_view operation, const Array& a, MatrixNorm which) {
  check(a.valid(), "{}: A holds no array", operation);
  const std::shared_ptr<ContextState>& context = a.context_state();
  context->require_usable(operation);
  runtime::collectively(*context, operation, [&]() -> std::vector<Fact> {
    check_matrix(operation, "A", a.operand());
    return {{"A", a.operand().to_string()}, {"norm", std::string(name(which))}};
  });
  if (volume(a.shape()) == 0) return 0;
  const Array whole = a.layout().partial() ? redistribute(a, Slab(0)) : a;
  const bool by_columns = which == MatrixNorm::one;
  const Distribution partial =
      Distribution::parse(fmt::format("mesh:ranks={}:-;partial=sum:ranks", context->size()));
  Array sums =
      empty(a.context(), {a.shape()[by_columns ? 1 : 0]}, partial, Dtype::f64, {.space = MemorySpace::host});
  runtime::check_or_tell_all(*context, operation, [&] {
    const std::vector<double> mine = local_sums(whole, by_columns);
    copy(view(mine), sums);
  });
  return max<double>(redistribute(sums, Slab(0)));
}

// --- Hager's and Higham's estimate of the 1-norm of a matrix that is known by its products with vectors

/// Products with the inverse, or with its adjoint; the vectors are the same on all ranks.
class InverseProducts {
 public:
  InverseProducts(const Factors& factors, const Context& context, Dtype dtype, MemorySpace space,
                  MatrixNorm which)
      : factors_(factors),
        column_(empty(context, {factors.shape()[0]}, Replicated(), dtype, {.space = space})),
        adjoint_(is_complex(dtype) ? Op::conjugate_transpose : Op::transpose),
        exchanged_(which == MatrixNorm::infinity) {}

  /// B^-1 x, or B^-H x, where B is A, or A^H for the largest sum of a row.
  Numbers apply(const Numbers& x, bool adjoint) {
    write_numbers(x, column_);
    factors_.apply_into(factors_.solve_job(adjoint != exchanged_ ? adjoint_ : Op::none), column_, column_,
                        {});
    return numbers_of(column_);
  }

 private:
  const Factors& factors_;
  Array column_;
  Op adjoint_;
  bool exchanged_;
};

double sum_of_magnitudes(const Numbers& numbers) {
  double sum = 0;
  for (const auto number : numbers) sum += std::abs(number);
  return sum;
}

Numbers signs_of(Numbers numbers) {
  for (auto& number : numbers) {
    const double size = std::abs(number);
    number = size == 0 ? 1 : number / size;
  }
  return numbers;
}

std::size_t index_of_largest(const Numbers& numbers) {
  const auto less = [](auto a, auto b) { return std::abs(a) < std::abs(b); };
  return static_cast<std::size_t>(std::ranges::max_element(numbers, less) - numbers.begin());
}

/// x[i] = (-1)^i (1 + i / (n - 1)), for matrices on which the iteration stops early.
double estimate_by_alternating(InverseProducts& inverse, std::size_t n) {
  Numbers x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i) / static_cast<double>(n - 1));
  return 2 * sum_of_magnitudes(inverse.apply(x, false)) / (3 * static_cast<double>(n));
}

double estimate_norm(InverseProducts& inverse, std::size_t n) {
  constexpr int most_iterations = 5;
  Numbers y = inverse.apply(Numbers(n, 1 / static_cast<double>(n)), false);
  double estimate = sum_of_magnitudes(y);
  if (n == 1 || !std::isfinite(estimate)) return estimate;
  Numbers signs = signs_of(y);
  Numbers z = inverse.apply(signs, true);
  std::size_t j = index_of_largest(z);
  for (int iteration = 2; iteration <= most_iterations; ++iteration) {
    Numbers unit(n);
    unit[j] = 1;
    y = inverse.apply(unit, false);
    const double found = sum_of_magnitudes(y);
    if (!(found > estimate)) break;
    estimate = found;
    Numbers next = signs_of(y);
    if (next == signs) break;
    signs = std::move(next);
    z = inverse.apply(signs, true);
    const std::size_t last = j;
    j = index_of_largest(z);
    if (std::abs(z[last]) == std::abs(z[j])) break;
  }
  return std::max(estimate, estimate_by_alternating(inverse, n));
}

}  // namespace

double Factors::condition(double norm, MatrixNorm which) const {
  context_->require_usable("condition");
  runtime::check_or_tell_all(*context_, "condition", [&] { (void)solve_job(Op::none); });
  if (first_zero_ >= 0) return std::isnan(norm) ? norm : std::numeric_limits<double>::infinity();
  const std::int64_t n = shape()[0];
  if (n == 0) return 0;
  InverseProducts inverse(*this, Context(context_), matrix_.dtype, matrix_.space, which);
  const double of_inverse = estimate_norm(inverse, static_cast<std::size_t>(n));
  // NaN in the inverse of a matrix without NaN: its numbers are beyond the largest.
  if (std::isnan(of_inverse) && std::isfinite(norm)) return std::numeric_limits<double>::infinity();
  return norm * of_inverse;
}

}  // namespace linear

double matrix_norm(const Array& a, MatrixNorm which) {
  const runtime::PublicCall call("matrix_norm");
  return linear::checked_norm("matrix_norm", a, which);
}

double condition(const Array& a, MatrixNorm which) {
  const runtime::PublicCall call("condition");
  const double norm = linear::checked_norm("condition", a, which);
  return linear::Factors(Factorization::lu, a, {}, SourcePlace::current()).condition(norm, which);
}

}  // namespace partita
