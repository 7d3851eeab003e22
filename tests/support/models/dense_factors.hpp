// Factorizations by their definitions, element by element, in double precision.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/models/dense_matrix.hpp"

namespace partita::testing {

struct DenseFactors {
  DenseMatrix packed;  ///< as LAPACK stores them
  DenseMatrix pivots;  ///< a column: row exchanges, or the scalar factors of reflectors
  DenseMatrix status;  ///< of each panel, a column
};

/// With partial pivoting in panels of `width` columns: pivots are relative to the first row of their panel,
/// whose exchanges apply to the columns on its left if `exchanges_left`, as LAPACK's.
inline DenseFactors lu_by_definition(DenseMatrix a, std::int64_t width, bool exchanges_left = false) {
  const std::int64_t least = std::min(a.rows, a.columns);
  DenseFactors factors{{}, {least, 1}, {(least + width - 1) / width, 1}};
  const auto size = [](Entry x) { return std::abs(x.real()) + std::abs(x.imag()); };  // LAPACK's
  for (std::int64_t j = 0; j < least; ++j) {
    const std::int64_t first = j / width * width;
    std::int64_t largest = j;
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      if (size(a(i, j)) > size(a(largest, j))) largest = i;
    }
    factors.pivots(j, 0) = static_cast<double>(largest - first);
    for (std::int64_t l = exchanges_left ? 0 : first; l < a.columns; ++l) std::swap(a(j, l), a(largest, l));
    if (a(j, j) == Entry(0)) {
      Entry& status = factors.status(j / width, 0);
      if (status == Entry(0)) status = static_cast<double>(j - first + 1);
      continue;
    }
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      a(i, j) /= a(j, j);
      for (std::int64_t l = j + 1; l < a.columns; ++l) a(i, l) -= a(i, j) * a(j, l);
    }
  }
  factors.packed = std::move(a);
  return factors;
}

/// Of these rows those that partial pivoting of so many columns from `first` on moves to the front.
inline std::vector<std::int64_t> chosen_rows(const DenseMatrix& a, std::vector<std::int64_t> rows,
                                             std::int64_t first, std::int64_t columns) {
  DenseMatrix part(std::ssize(rows), columns);
  for (std::int64_t i = 0; i < part.rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) part(i, j) = a(rows[static_cast<std::size_t>(i)], first + j);
  }
  const DenseMatrix pivots = lu_by_definition(part, columns).pivots;
  for (std::int64_t i = 0; i < pivots.rows; ++i)
    std::swap(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(pivots(i, 0).real())]);
  rows.resize(static_cast<std::size_t>(pivots.rows));
  return rows;
}

/// The pivot rows of the panel of so many columns from `first` on, chosen by the rows of a grid, of which
/// each has every `grid_rows`-th block of `width` rows, along a binary tree from the one with row `first` on.
inline std::vector<std::int64_t> tournament_rows(const DenseMatrix& a, std::int64_t width, int grid_rows,
                                                 std::int64_t first, std::int64_t columns) {
  std::vector<std::vector<std::int64_t>> entrants(static_cast<std::size_t>(grid_rows));
  for (std::int64_t row = first; row < a.rows; ++row)
    entrants[static_cast<std::size_t>((row - first) / width % grid_rows)].push_back(row);
  std::erase_if(entrants, [](const auto& rows) { return rows.empty(); });
  for (auto& rows : entrants) rows = chosen_rows(a, rows, first, columns);
  for (std::size_t distance = 1; distance < entrants.size(); distance *= 2) {
    for (std::size_t i = 0; i + distance < entrants.size(); i += 2 * distance) {
      const auto& others = entrants[i + distance];
      entrants[i].insert(entrants[i].end(), others.begin(), others.end());
      entrants[i] = chosen_rows(a, entrants[i], first, columns);
    }
  }
  return chosen_rows(a, entrants.front(), first, columns);
}

/// With tournament pivoting in blocks of `width` on a grid: pivots are relative to the first row of their
/// panel, whose exchanges apply to all columns.
inline DenseFactors lu_by_tournament(DenseMatrix a, std::int64_t width, int grid_rows) {
  const std::int64_t least = std::min(a.rows, a.columns);
  DenseFactors factors{{}, {least, 1}, {(least + width - 1) / width, 1}};
  for (std::int64_t first = 0; first < least; first += width) {
    const std::int64_t end = std::min(first + width, least);
    std::vector<std::int64_t> order(static_cast<std::size_t>(a.rows));  // the rows as they were
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto chosen = tournament_rows(a, width, grid_rows, first, end - first);
    for (std::int64_t j = first; j < end; ++j) {
      const auto found = std::ranges::find(order, chosen[static_cast<std::size_t>(j - first)]);
      const std::int64_t row = found - order.begin();
      std::swap(order[static_cast<std::size_t>(j)], *found);
      factors.pivots(j, 0) = static_cast<double>(row - first);
      for (std::int64_t l = 0; l < a.columns; ++l) std::swap(a(j, l), a(row, l));
    }
    for (std::int64_t j = first; j < end; ++j) {
      Entry& status = factors.status(first / width, 0);
      if (a(j, j) == Entry(0) && status == Entry(0)) status = static_cast<double>(j - first + 1);
      if (a(j, j) == Entry(0)) continue;
      for (std::int64_t i = j + 1; i < a.rows; ++i) {
        a(i, j) /= a(j, j);
        for (std::int64_t l = j + 1; l < a.columns; ++l) a(i, l) -= a(i, j) * a(j, l);
      }
    }
  }
  factors.packed = std::move(a);
  return factors;
}

/// Of a positive definite matrix, of which the lower triangle is read; what is above it is kept.
inline DenseFactors cholesky_by_definition(DenseMatrix a) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t l = 0; l < j; ++l) a(j, j) -= std::norm(a(j, l));
    a(j, j) = std::sqrt(a(j, j).real());
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      for (std::int64_t l = 0; l < j; ++l) a(i, j) -= a(i, l) * std::conj(a(j, l));
      a(i, j) /= a(j, j);
    }
  }
  return {std::move(a), {}, {}};
}

/// b = (I - tau v v^H) b for the columns of b from `first` on, where v is 0 above row j, 1 in it, and below
/// it column j of `packed`.
inline void reflect(const DenseMatrix& packed, std::int64_t j, Entry tau, DenseMatrix& b,
                    std::int64_t first = 0) {
  for (std::int64_t c = first; c < b.columns; ++c) {
    Entry sum = b(j, c);
    for (std::int64_t i = j + 1; i < b.rows; ++i) sum += std::conj(packed(i, j)) * b(i, c);
    b(j, c) -= tau * sum;
    for (std::int64_t i = j + 1; i < b.rows; ++i) b(i, c) -= tau * sum * packed(i, j);
  }
}

/// By Householder reflectors with a real diagonal of R.
inline DenseFactors qr_by_definition(DenseMatrix a) {
  DenseFactors factors{{}, {std::min(a.rows, a.columns), 1}, {}};
  for (std::int64_t j = 0; j < factors.pivots.rows; ++j) {
    double below = 0;
    for (std::int64_t i = j + 1; i < a.rows; ++i) below += std::norm(a(i, j));
    const Entry head = a(j, j);
    if (below == 0 && head.imag() == 0) continue;
    const double diagonal = -std::copysign(std::sqrt(std::norm(head) + below), head.real());
    for (std::int64_t i = j + 1; i < a.rows; ++i) a(i, j) /= head - diagonal;
    a(j, j) = diagonal;
    factors.pivots(j, 0) = (diagonal - head) / diagonal;
    reflect(a, j, std::conj(factors.pivots(j, 0)), a, j + 1);
  }
  factors.packed = std::move(a);
  return factors;
}

/// Q of such factors, [m, columns].
inline DenseMatrix q_of(const DenseMatrix& packed, const DenseMatrix& tau, std::int64_t columns) {
  DenseMatrix q = identity(packed.rows, columns);
  for (std::int64_t j = tau.rows; j-- > 0;) reflect(packed, j, tau(j, 0), q);
  return q;
}

/// X with A X = B, by elimination.
inline DenseMatrix solved(const DenseMatrix& a, DenseMatrix b) {
  const DenseFactors lu = lu_by_definition(a, std::max<std::int64_t>(a.columns, 1));
  b = exchanged(std::move(b), lu.pivots);
  for (std::int64_t c = 0; c < b.columns; ++c) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t j = 0; j < i; ++j) b(i, c) -= lu.packed(i, j) * b(j, c);
    }
    for (std::int64_t i = a.rows; i-- > 0;) {
      for (std::int64_t j = i + 1; j < a.rows; ++j) b(i, c) -= lu.packed(i, j) * b(j, c);
      b(i, c) /= lu.packed(i, i);
    }
  }
  return b;
}

/// The X with the least |A X - B|; or of the X with A X = B the one with the least norm.
inline DenseMatrix solved_by_least_squares(const DenseMatrix& a, const DenseMatrix& b) {
  const DenseMatrix h = adjoint(a);
  if (a.rows == a.columns) return solved(a, b);
  return a.rows > a.columns ? solved(h * a, h * b) : h * solved(a * h, b);
}

}  // namespace partita::testing
