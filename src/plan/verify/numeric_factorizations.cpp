// Factorizations and what applies them by their definitions, without blocks and without LAPACK.
#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "plan/row_moves.hpp"
#include "plan/verify/numeric_execution.hpp"
#include "plan/work.hpp"

namespace partita::verification {
namespace {

/// Numbers of a part [m, n], row-major.
class NumericMatrix {
 public:
  NumericMatrix(const Part& part, Numbers numbers) : numbers_(std::move(numbers)) {
    check<Fault>(part.region.sets.size() == 2, "a matrix of {} dimensions", part.region.sets.size());
    rows_ = static_cast<std::size_t>(part.region.sets[0].size());
    columns_ = static_cast<std::size_t>(part.region.sets[1].size());
  }

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  Number& operator()(std::size_t i, std::size_t j) { return numbers_[i * columns_ + j]; }
  Number operator()(std::size_t i, std::size_t j) const { return numbers_[i * columns_ + j]; }
  const Numbers& numbers() const { return numbers_; }

  void exchange(std::size_t one, std::size_t other) {
    for (std::size_t j = 0; j < columns_; ++j) std::swap((*this)(one, j), (*this)(other, j));
  }

 private:
  Numbers numbers_;
  std::size_t rows_ = 0, columns_ = 0;
};

/// By columns. Returns 0, or the order of the first leading minor that is not positive definite.
std::size_t factor_cholesky(NumericMatrix& a) {
  for (std::size_t j = 0; j < a.columns(); ++j) {
    double pivot = a(j, j).real();
    for (std::size_t l = 0; l < j; ++l) pivot -= std::norm(a(j, l));
    a(j, j) = pivot;
    if (!(pivot > 0)) return j + 1;
    a(j, j) = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < a.rows(); ++i) {
      for (std::size_t l = 0; l < j; ++l) a(i, j) -= a(i, l) * std::conj(a(j, l));
      a(i, j) /= a(j, j);
    }
  }
  return 0;
}

/// LAPACK compares complex numbers by the sum of the absolute values of their parts.
double size_of_pivot(Number x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

/// Returns 0, or the first pivot, counted from 1, that is 0.
std::size_t factor_lu(NumericMatrix& a, Numbers& pivots) {
  std::size_t first_zero = 0;
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    std::size_t largest = j;
    for (std::size_t i = j + 1; i < a.rows(); ++i) {
      if (size_of_pivot(a(i, j)) > size_of_pivot(a(largest, j))) largest = i;
    }
    pivots[j] = static_cast<double>(largest);
    if (a(largest, j) == Number(0)) {
      if (first_zero == 0) first_zero = j + 1;
      continue;
    }
    a.exchange(j, largest);
    for (std::size_t i = j + 1; i < a.rows(); ++i) {
      a(i, j) /= a(j, j);
      for (std::size_t l = j + 1; l < a.columns(); ++l) a(i, l) -= a(i, j) * a(j, l);
    }
  }
  return first_zero;
}

/// Multiplies columns first, .. of `to` by I - tau v v^H, where v is zero above row j, one in it, and below
/// it column j of `reflectors`.
void reflect(const NumericMatrix& reflectors, std::size_t j, Number tau, NumericMatrix& to,
             std::size_t first) {
  for (std::size_t c = first; c < to.columns(); ++c) {
    Number sum = to(j, c);
    for (std::size_t i = j + 1; i < to.rows(); ++i) sum += std::conj(reflectors(i, j)) * to(i, c);
    to(j, c) -= tau * sum;
    for (std::size_t i = j + 1; i < to.rows(); ++i) to(i, c) -= tau * sum * reflectors(i, j);
  }
}

/// The reflector whose adjoint makes column j real on the diagonal and zero below it (LAPACK's larfg).
/// Returns tau.
Number make_reflector(NumericMatrix& a, std::size_t j) {
  double below = 0;
  for (std::size_t i = j + 1; i < a.rows(); ++i) below += std::norm(a(i, j));
  const Number head = a(j, j);
  if (below == 0 && head.imag() == 0) return 0;
  const double diagonal = -std::copysign(std::sqrt(std::norm(head) + below), head.real());
  for (std::size_t i = j + 1; i < a.rows(); ++i) a(i, j) /= head - diagonal;
  a(j, j) = diagonal;
  return (diagonal - head) / diagonal;
}

void factor_qr(NumericMatrix& a, Numbers& tau) {
  for (std::size_t j = 0; j < tau.size(); ++j) {
    tau[j] = make_reflector(a, j);
    reflect(a, j, std::conj(tau[j]), a, j + 1);
  }
}

/// Solves op(T) x = b in place, for the columns of b.
void substitute(const NumericMatrix& triangle, const TriangularSolve& work, NumericMatrix& to) {
  const bool transposed = work.op == Op::transpose || work.op == Op::conjugate_transpose;
  const bool conjugated = work.op == Op::conjugate || work.op == Op::conjugate_transpose;
  const auto at = [&](std::size_t i, std::size_t j) {
    const Number x = transposed ? triangle(j, i) : triangle(i, j);
    return conjugated ? std::conj(x) : x;
  };
  const bool upper = work.upper != transposed;
  const std::size_t n = to.rows();
  for (std::size_t c = 0; c < to.columns(); ++c) {
    for (std::size_t step = 0; step < n; ++step) {
      const std::size_t i = upper ? n - 1 - step : step;
      for (std::size_t j = upper ? i + 1 : 0; j < (upper ? n : i); ++j) to(i, c) -= at(i, j) * to(j, c);
      const bool divides = !work.unit_diagonal && !(work.zero_as_one && at(i, i) == Number(0));
      if (divides) to(i, c) /= at(i, i);
    }
  }
}

NumericMatrix transposed(const Part& part, const NumericMatrix& matrix) {
  Part other = part;
  std::swap(other.region.sets[0], other.region.sets[1]);
  NumericMatrix result(other, Numbers(matrix.numbers().size()));
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.columns(); ++j) result(j, i) = matrix(i, j);
  }
  return result;
}

}  // namespace

void NumericExecution::compute(const FactorPanel& work) {
  NumericMatrix panel(work.panel, read(work.panel));
  const std::size_t least = std::min(panel.rows(), panel.columns());
  const bool cholesky = work.kind == Factorization::cholesky;
  check<Fault>(cholesky ? panel.rows() >= panel.columns()
                        : work.pivots.region.size() == static_cast<std::int64_t>(least),
               "the parts of a factorization do not fit each other");
  check<Fault>(work.status.region.size() == 1, "the status of a factorization is not one number");
  Numbers pivots(least);
  std::size_t status = 0;
  if (cholesky) status = factor_cholesky(panel);
  if (work.kind == Factorization::lu) status = factor_lu(panel, pivots);
  if (work.kind == Factorization::qr) factor_qr(panel, pivots);
  write(work.panel, panel.numbers());
  if (!cholesky) write(work.pivots, pivots);
  write(work.status, {static_cast<double>(status)});
}

void NumericExecution::compute(const ExchangeRows& work) {
  NumericMatrix to(work.to, read(work.to));
  const Numbers pivots = read(work.pivots);
  for (std::size_t step = 0; step < pivots.size(); ++step) {
    const std::size_t i = work.backward ? pivots.size() - 1 - step : step;
    const double pivot = pivots[i].real();
    check<Fault>(pivot >= 0 && pivot < static_cast<double>(to.rows()) && i < to.rows(),
                 "row {} is exchanged with row {}, but there are {}", i, pivot, to.rows());
    to.exchange(i, static_cast<std::size_t>(pivot));
  }
  write(work.to, to.numbers());
}

void NumericExecution::compute(const TriangularSolve& work) {
  const NumericMatrix triangle(work.triangle, read(work.triangle));
  NumericMatrix to(work.to, read(work.to));
  check<Fault>(triangle.rows() == triangle.columns() &&
                   triangle.rows() == (work.from_right ? to.columns() : to.rows()),
               "the parts of a triangular solve do not fit each other");
  if (!work.from_right) {
    substitute(triangle, work, to);
    return write(work.to, to.numbers());
  }
  // X op(T) = B is op(T)^T X^T = B^T.
  constexpr Op transposed_op[]{Op::transpose, Op::none, Op::conjugate, Op::conjugate_transpose};
  TriangularSolve left = work;
  left.op = transposed_op[static_cast<std::size_t>(work.op)];
  NumericMatrix rows = transposed(work.to, to);
  substitute(triangle, left, rows);
  for (std::size_t i = 0; i < to.rows(); ++i) {
    for (std::size_t j = 0; j < to.columns(); ++j) to(i, j) = rows(j, i);
  }
  write(work.to, to.numbers());
}

void NumericExecution::compute(const ChooseRows& work) {
  const NumericMatrix from(work.from, read(work.from));
  NumericMatrix chosen(work.chosen, Numbers(static_cast<std::size_t>(work.chosen.region.size())));
  const std::size_t m = from.rows(), n = chosen.columns() - 2, k = chosen.rows();
  check<Fault>(k <= std::min(m, n) && from.columns() == n + (work.numbered ? 2 : 0),
               "the parts of a choice of rows do not fit each other");
  Part columns = work.from;
  columns.region.sets[1] = IndexSet::range(0, static_cast<std::int64_t>(n));
  NumericMatrix factors(columns, Numbers(m * n));
  std::vector<std::size_t> order(m);
  for (std::size_t i = 0; i < m; ++i) {
    order[i] = i;
    for (std::size_t j = 0; j < n; ++j) factors(i, j) = from(i, j);
  }
  Numbers pivots(std::min(m, n));
  (void)factor_lu(factors, pivots);
  for (std::size_t i = 0; i < pivots.size(); ++i)
    std::swap(order[i], order[static_cast<std::size_t>(pivots[i].real())]);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < from.columns(); ++j) chosen(i, j) = from(order[i], j);
    if (work.numbered) continue;
    const std::int64_t row = work.from.region.sets[0].at(static_cast<std::int64_t>(order[i]));
    const std::int64_t quotient = row / row_number_base;
    chosen(i, n) = static_cast<double>(quotient);
    chosen(i, n + 1) = static_cast<double>(row % row_number_base);
  }
  write(work.chosen, chosen.numbers());
}

void NumericExecution::compute(const PivotsOfRows& work) {
  const NumericMatrix numbers(work.numbers, read(work.numbers));
  const std::int64_t first = work.pivots.region.sets[0].front();
  std::vector<std::int32_t> rows(numbers.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double row = numbers(i, 0).real() * static_cast<double>(row_number_base) + numbers(i, 1).real();
    check<Fault>(row >= static_cast<double>(first), "row {} was chosen for a panel from row {} on", row,
                 first);
    rows[i] = static_cast<std::int32_t>(row - static_cast<double>(first));
  }
  planning::RowMoves moves(rows.size());
  moves.make_pivots(rows);
  write(work.pivots, Numbers(rows.begin(), rows.end()));
}

void NumericExecution::compute(const MoveRows& work) {
  const Numbers pivots = read(work.pivots);
  std::vector<std::int32_t> exchanges;
  for (const Number pivot : pivots) exchanges.push_back(static_cast<std::int32_t>(pivot.real()));
  planning::RowMoves moves(exchanges.size());
  moves.find(exchanges, work.pivots.region.sets[0].front());
  const IndexSet& rows = work.matrix.region.sets[0];
  const std::vector<planning::RowMove>& moved =
      work.packs ? moves.between(rows, work.others) : moves.between(work.others, rows);
  NumericMatrix matrix(work.matrix, read(work.matrix));
  const std::int64_t count = std::ssize(moved), columns = work.matrix.region.sets[1].size();
  check<Fault>(count <= work.packed.region.sets[0].size(), "{} rows move, but there is room for {}", count,
               work.packed.region.sets[0].size());
  Part packed = work.packed;
  packed.region.sets[0] = IndexSet::range(0, count);
  NumericMatrix lines(packed, work.packs ? Numbers(static_cast<std::size_t>(count * columns)) : read(packed));
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows.position(work.packs ? moved[i].from : moved[i].to));
    for (std::size_t j = 0; j < lines.columns(); ++j) {
      (work.packs ? lines(i, j) : matrix(row, j)) = work.packs ? matrix(row, j) : lines(i, j);
    }
  }
  if (work.packs) write(packed, lines.numbers());
  if (!work.packs) write(work.matrix, matrix.numbers());
  const std::int64_t item = size_of(planning::dtype_at(plans_.plan(0), work.matrix.place));
  write(work.bytes, {static_cast<double>(count * columns * item)});
}

void NumericExecution::compute(const ApplyReflectors& work) {
  const NumericMatrix reflectors(work.reflectors, read(work.reflectors));
  const Numbers tau = read(work.factors);
  NumericMatrix to(work.to, read(work.to));
  const std::size_t k = reflectors.columns();
  check<Fault>(reflectors.rows() == to.rows() && tau.size() == k && k <= to.rows(),
               "the parts of an application of reflectors do not fit each other");
  for (std::size_t step = 0; step < k; ++step) {
    const std::size_t j = work.adjoint ? step : k - 1 - step;
    reflect(reflectors, j, work.adjoint ? std::conj(tau[j]) : tau[j], to, 0);
  }
  write(work.to, to.numbers());
}

}  // namespace partita::verification
