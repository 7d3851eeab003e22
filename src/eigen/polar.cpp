#include "eigen/polar.hpp"

#include <cmath>
#include <partita/array_reductions.hpp>
#include <partita/elementwise.hpp>

#include "base/check.hpp"
#include "eigen/direct.hpp"
#include "eigen/eigh.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita::eigen {
namespace {

/// X := X (a I + b X^H X) (I + c X^H X)^-1 for singular values in [lower, 1].
struct Weights {
  double a = 3, b = 1, c = 3;
  double lower_after = 1;

  explicit Weights(double lower) {
    const double square = lower * lower;
    const double d = std::cbrt(4 * (1 - square) / (square * square));
    const double root = std::sqrt(1 + d);
    a = root + std::sqrt(8 - 4 * d + 8 * (2 - square) / (square * root)) / 2;
    b = (a - 1) * (a - 1) / 4;
    c = a + b - 1;
    lower_after = lower * (a + b * square) / (1 + c * square);
  }
  /// What multiplies X, and what multiplies X (I + c X^H X)^-1.
  double of_x() const { return b / c; }
  double of_solved() const { return a - b / c; }
};

/// By the QR factorization of [sqrt(c) X; I], which is stable for every c.
Array step_by_qr(const Matrices& matrices, const Array& x, const Weights& weights) {
  const std::int64_t m = x.shape()[0], n = x.shape()[1];
  const Array stacked = matrices.empty(m + n, n);
  Array top = part(stacked, 0, m, 0, n), bottom = part(stacked, m, n, 0, n);
  copy(x, top);
  scale(top, std::sqrt(weights.c));
  copy(matrices.unit(n, n), bottom);
  const Array q = Qr(stacked, {.overwrite = true}).q();
  const double of_product = weights.of_solved() / std::sqrt(weights.c);
  return matrices.product(part(q, 0, m, 0, n), Op::none, part(q, m, n, 0, n), Op::conjugate_transpose,
                          of_product, weights.of_x(), x);
}

/// By the Cholesky factorization of I + c X^H X, which is stable for small c and takes fewer operations.
Array step_by_cholesky(const Matrices& matrices, const Array& x, const Weights& weights) {
  const std::int64_t n = x.shape()[1];
  Array inverse = matrices.unit(n, n);
  const Array sum = matrices.product(x, Op::conjugate_transpose, x, Op::none, weights.c, 1, inverse);
  Cholesky(sum, {.overwrite = true}).solve_into(inverse, inverse);
  return matrices.product(x, Op::none, inverse, Op::none, weights.of_solved(), weights.of_x(), x);
}

/// Divides by the size, whose inverse may be beyond the largest number.
void divide(Array& x, double size) {
  constexpr double up = 0x1p100;
  for (; size < 1 / up; size *= up) scale(x, up);
  scale(x, 1 / size);
}

}  // namespace

Array unitary_factor(const Matrices& matrices, const Array& a) {
  constexpr double largest_for_cholesky = 100;  // of c; Nakatsukasa and Higham 2013, section 4.2
  constexpr int most_steps = 10;                // six or seven from the smallest lower bound
  Array x = matrices.copied(a);
  const double size = norm<double>(x);  // at least the largest singular value
  if (size == 0) return matrices.unit(a.shape()[0], a.shape()[1]);
  divide(x, size);
  double lower = matrices.epsilon();
  for (int step = 0; step < most_steps && std::abs(1 - lower) > 10 * matrices.epsilon(); ++step) {
    const Weights weights(std::min(lower, 1.0));
    x = weights.c > largest_for_cholesky ? step_by_qr(matrices, x, weights)
                                         : step_by_cholesky(matrices, x, weights);
    lower = weights.lower_after;
  }
  return x;
}

namespace {

bool is_orthonormal(const Matrices& matrices, const Array& u) {
  Array difference = matrices.unit(u.shape()[1], u.shape()[1]);
  difference = matrices.product(u, Op::conjugate_transpose, u, Op::none, 1, -1, difference);
  return norm<double>(difference) <= std::sqrt(matrices.epsilon());
}

/// For a matrix without full rank: U V has columns of length 0, where H has eigenvalues that are 0.
Array completed_factor(const Matrices& matrices, const Array& u, const Array& h) {
  Array negative = matrices.copied(h);
  scale(negative, -1);  // in ascending order the columns of length 0 are the last
  const Array v = spectrum(matrices, negative, base_rows(matrices, {}), true).vectors;
  const Array columns = matrices.completed(matrices.product(u, Op::none, v, Op::none));
  return matrices.product(columns, Op::none, v, Op::conjugate_transpose);
}

}  // namespace
}  // namespace partita::eigen

namespace partita {

PolarFactors polar(const Array& a, SourcePlace where) {
  const runtime::PublicCall call("polar");
  eigen::check_argument("polar", a, false);
  check(a.shape()[0] >= a.shape()[1], "polar: A has fewer rows than columns, {}; decompose its transpose",
        to_string(a.shape()));
  eigen::check_finite("polar", a);
  const eigen::Matrices matrices(a);
  Array u = eigen::unitary_factor(matrices, a);
  const Array h =
      matrices.hermitian_part(matrices.product(u, Op::conjugate_transpose, matrices.copied(a), Op::none));
  if (!eigen::is_orthonormal(matrices, u)) u = eigen::completed_factor(matrices, u, h);
  return {matrices.result(u, a, where), matrices.result(h, a, where)};
}

}  // namespace partita
