#include "kernels/host/factorizations.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/host/lapack_library.hpp"

namespace partita::kernels {
namespace {

constexpr std::int64_t most_of_lapack = std::numeric_limits<int>::max();
// Columns of one triangular solve of BLAS: a multiple of all its blocks.
constexpr std::int64_t most_solved = std::int64_t{1} << 30;
// Rows of a triangle for which trsv is faster than trsm in measurements, for every operation.
constexpr int least_of_trsv = 128;

template <class T>
void call_trsm(const TriangularForm& form, const ColumnMatrix<const T>& triangle, const ColumnMatrix<T>& to) {
  constexpr std::string_view operations = "NTCR";
  const char side = form.from_right ? 'R' : 'L', diagonal = form.unit_diagonal ? 'U' : 'N',
             which = form.upper ? 'U' : 'L', operation = operations[static_cast<std::size_t>(form.op)];
  const int m = int_size(to.rows), n = int_size(to.columns), leading_t = leading_of(triangle),
            leading = leading_of(to);
  // One column: trsm copies the triangle first, which takes longer than a read of it.
  if (n == 1 && !form.from_right && m >= least_of_trsv) {
    constexpr int step = 1;
    lapack<T>().trsv(&which, &operation, &diagonal, &m, triangle.data, &leading_t, to.data, &step, 1, 1, 1);
    return;
  }
  const T one(1);
  lapack<T>().trsm(&side, &which, &operation, &diagonal, &m, &n, &one, triangle.data, &leading_t, to.data,
                   &leading, 1, 1, 1, 1);
}

}  // namespace

bool fits_lapack(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  return std::max(rows, columns) <= most_of_lapack && (columns <= 1 || leading <= most_of_lapack);
}

template <class T>
std::int32_t factor_cholesky(const ColumnMatrix<T>& panel) {
  const std::int64_t n = panel.columns;
  if (n == 0) return 0;
  const int size = int_size(n), leading = leading_of(panel);
  int info = 0;
  lapack<T>().potrf("L", &size, panel.data, &leading, &info, 1);
  const std::int64_t good = checked_info("potrf", info) > 0 ? info - 1 : n;
  // OpenBLAS continues after a pivot that is NaN, which LAPACK reports.
  for (std::int64_t j = 0; j < good; ++j) {
    if (std::isnan(std::real(panel.data[j + j * panel.leading]))) return static_cast<std::int32_t>(j + 1);
  }
  if (info > 0 || panel.rows == n) return info;
  const ColumnMatrix<T> below = panel.part(n, 0, panel.rows - n, n);
  solve_triangular<T>({Op::conjugate_transpose, false, false, true}, panel.part(0, 0, n, n).read(), below);
  return 0;
}

template <class T>
std::int32_t factor_lu(const ColumnMatrix<T>& panel, std::int32_t* pivots) {
  const std::int64_t k = std::min(panel.rows, panel.columns);
  if (k == 0) return 0;
  const int m = int_size(panel.rows), n = int_size(panel.columns), leading = leading_of(panel);
  std::vector<std::int64_t> found(static_cast<std::size_t>(k));
  int info = 0;
  lapack<T>().getrf(&m, &n, panel.data, &leading, found.data(), &info);
  for (std::size_t i = 0; i < found.size(); ++i) pivots[i] = integer_of(found.data(), i) - 1;
  return checked_info("getrf", info);
}

template <class T>
void exchange_rows(const ColumnMatrix<T>& to, const std::int32_t* pivots, std::int64_t count, bool backward) {
  for (std::int64_t j = 0; j < to.columns; ++j) {
    T* const column = to.data + j * to.leading;
    if (backward) {
      for (std::int64_t i = count; i-- > 0;) std::swap(column[i], column[pivots[i]]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) std::swap(column[i], column[pivots[i]]);
    }
  }
}

template <class T>
void solve_triangular(const TriangularForm& form, const ColumnMatrix<const T>& triangle,
                      const ColumnMatrix<T>& to) {
  if (to.rows == 0 || to.columns == 0) return;
  // Along the dimension that the triangle does not have.
  const std::int64_t size = form.from_right ? to.rows : to.columns;
  for (std::int64_t first = 0; first < size; first += most_solved) {
    const std::int64_t some = std::min(most_solved, size - first);
    call_trsm(form, triangle,
              form.from_right ? to.part(first, 0, some, to.columns) : to.part(0, first, to.rows, some));
  }
}

#define PARTITA_FACTORIZATIONS(T)                                                               \
  template std::int32_t factor_cholesky(const ColumnMatrix<T>&);                                \
  template std::int32_t factor_lu(const ColumnMatrix<T>&, std::int32_t*);                       \
  template void exchange_rows(const ColumnMatrix<T>&, const std::int32_t*, std::int64_t, bool); \
  template void solve_triangular(const TriangularForm&, const ColumnMatrix<const T>&, const ColumnMatrix<T>&);
PARTITA_FACTORIZATIONS(float)
PARTITA_FACTORIZATIONS(double)
PARTITA_FACTORIZATIONS(std::complex<float>)
PARTITA_FACTORIZATIONS(std::complex<double>)
#undef PARTITA_FACTORIZATIONS

}  // namespace partita::kernels
