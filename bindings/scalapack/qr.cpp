// p?geqrf and p?gels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <partita/linalg.hpp>
#include <partita/redistribute.hpp>

#include "combine.hpp"
#include "linear.hpp"
#include "wide.hpp"

namespace partita::scalapack {
namespace {

template <class T>
struct GeqrfCall {
  const int* m;
  const int* n;
  MatrixArgument<T> a;
  T* tau;
  T* work;
  const int* lwork;
  int* info;
};

template <class T>
struct GelsCall {
  const char* trans;
  const int* m;
  const int* n;
  const int* nrhs;
  MatrixArgument<T> a;
  MatrixArgument<T> b;
  T* work;
  const int* lwork;
  int* info;
};

/// ScaLAPACK's NUMROC: the indices below `extent` of a process, where the process `source` has the first.
std::int64_t numroc(std::int64_t extent, std::int64_t block, int coordinate, int source, int processes) {
  return Deal{extent, block, block, source}.owned_below(extent, coordinate, processes);
}

/// The rows of this process among `count` rows of the sub-matrix, with those before them in their block.
std::int64_t rows_here(const SubMatrix& matrix, std::int64_t count, const Coordinates& grid) {
  const Deal& deal = matrix.descriptor.rows;
  return numroc(count + matrix.row % deal.block, deal.block, grid.row, deal.owner(matrix.row, grid.rows),
                grid.rows);
}
/// As above; `first`: the index whose owner has the first of them.
std::int64_t columns_here(const SubMatrix& matrix, std::int64_t first, const Coordinates& grid) {
  const Deal& deal = matrix.descriptor.columns;
  return numroc(matrix.columns + matrix.column % deal.block, deal.block, grid.column,
                deal.owner(first, grid.columns), grid.columns);
}

std::int64_t work_of_geqrf(const SubMatrix& a, const Coordinates& grid) {
  const std::int64_t nb = a.descriptor.columns.block;
  return nb * (rows_here(a, a.rows, grid) + columns_here(a, a.column, grid) + nb);
}

/// The smallest LWORK that p?gels takes. As there, the first columns are looked for with indices of rows.
std::int64_t work_of_gels(const SubMatrix& a, const SubMatrix& b, const Coordinates& grid) {
  const Deal& rows = a.descriptor.rows;
  const Deal& columns = a.descriptor.columns;
  const bool tall = a.rows >= a.columns;
  const std::int64_t block = tall ? columns.block : rows.block;
  const std::int64_t least = std::min(a.rows, a.columns);
  const std::int64_t tau = tall ? columns.owned_below(a.column + least, grid.column, grid.columns)
                                : rows.owned_below(a.row + least, grid.row, grid.rows);
  const std::int64_t width = columns_here(a, a.row, grid);
  std::int64_t sides = columns_here(b, b.row, grid);
  if (!tall) {
    const std::int64_t all = a.columns + b.row % b.descriptor.rows.block;
    const std::int64_t first = numroc(all, block, 0, 0, grid.rows);
    sides =
        std::max(sides, width + numroc(first, block, 0, 0, std::lcm(grid.rows, grid.columns) / grid.rows));
  }
  const std::int64_t factorize = block * (rows_here(a, a.rows, grid) + width + block);
  const std::int64_t solve =
      std::max(block * (block - 1) / 2, (rows_here(b, b.rows, grid) + sides) * block) + block * block;
  return tau + std::max(factorize, solve);
}

template <class T>
void write_work(T* work, std::int64_t length) {
  work[0] = T(static_cast<decltype(std::abs(T()))>(length));
}

/// Collective over the grid, blocking.
template <class T>
void geqrf(const Routine& routine, const GeqrfCall<T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    const SubMatrix a = call.a.matrix(*call.m, *call.n);
    LinearCall decision(routine, call.a.context(), call.info);
    decision.add_plain(a, {1, 2, 6});
    const bool right = decision.right();  // else blocks of 0 may be among the arguments
    const std::int64_t work = right ? work_of_geqrf(a, decision.coordinates()) : 0;
    decision.require(*call.lwork >= work, 9);  // -1: ScaLAPACK tells how much it wants
    decision.compute(
        1.0 * *call.m * *call.n * std::min(*call.m, *call.n), qr_threshold, dtype_of<T>(),
        [&] {
          Array matrix = call.a.array(decision.grid(), a);
          const Qr qr(matrix);
          const Array factors = qr.factors();
          qr.packed_into(matrix);
          const Coordinates& grid = decision.coordinates();
          for_each_owned(a.descriptor.columns, a.column, std::min(a.rows, a.columns), grid.column,
                         grid.columns,
                         [&](std::int64_t i, std::int64_t local) { call.tau[local] = factors.data<T>()[i]; });
          write_work(call.work, work);
          *call.info = 0;
        },
        [&] {
          return hand_on(routine, call.m, call.n, call.a.local, call.a.row, call.a.column, call.a.descriptor,
                         call.tau, call.work, call.lwork, call.info);
        });
  });
}

/// The largest part of an element of this process.
template <class T>
double largest_element(const View& view) {
  double largest = 0;
  along_columns<T>(view, view, [&](const T& element, const T&) {
    const std::complex<double> number = wide(element);
    for (const double part : {number.real(), number.imag()})
      if (!(std::abs(part) <= largest)) largest = std::abs(part);  // NaN, too
  });
  return largest;
}

/// ScaLAPACK scales matrices whose elements are outside of the range in which nothing overflows, and looks
/// for matrices of zeros. Throws UnsupportedError for them, on all processes.
template <class T>
void check_range(const Array& a, const Array& b, int blacs_context) {
  using Real = std::numeric_limits<decltype(std::abs(T()))>;
  const double smallest = static_cast<double>(Real::min()) / static_cast<double>(Real::epsilon());
  std::array<int, 4> found{};
  for (std::size_t i = 0; const Array* array : {&a, &b}) {
    const double largest = largest_element<T>(array->local());
    found[0] |= largest <= 1 / smallest ? 0 : 1;
    found[++i] = largest >= smallest ? 1 : 0;
    if (i == 2) found[3] = largest > 0 ? 1 : 0;
  }
  take_largest(blacs_context, found);
  if (found[0] != 0 || found[1] == 0 || (found[3] != 0 && found[2] == 0))
    throw UnsupportedError("p?gels: the elements of a matrix are too large or too small");
}

template <class T>
void conjugate_into(const Array& from, const Array& to) {
  combine(T(1), from.local(), true, T(0), to.local());
}

/// A^H, in separate memory.
template <class T>
Array adjoint_of(const Array& a) {
  Array adjoint = clone(a.permuted({1, 0}), {.order = Order::row_major});
  conjugate_into<T>(adjoint, adjoint);
  return adjoint;
}

/// `residual`: with Q^H B in the rows behind the solution. All is computed before anything is written.
template <class T>
void solve_least_squares(const Qr& qr, const Array& factored, Array& a, Array& b, bool adjoint) {
  const std::int64_t rows = factored.shape()[0], columns = factored.shape()[1], sides = b.shape()[1];
  const Array shorter = b.window({0, 0}, {columns, sides});
  SolveOptions options{.op = adjoint ? Op::conjugate_transpose : Op::none, .order = Order::column_major};
  const Array x = qr.solve(adjoint ? shorter : b, options);
  Array to = adjoint ? b : shorter;
  const Array placed = redistribute(x, to.layout(), {.order = Order::column_major});
  Array reflected;
  if (!adjoint && rows > columns) {
    options.op = Op::conjugate_transpose;
    reflected = qr.multiply_q(b, options);
  }
  if (factored.state() == a.state()) {
    qr.packed_into(a);
  } else {
    const Array packed = qr.packed();
    conjugate_into<T>(packed.permuted({1, 0}), a);
  }
  if (reflected.valid()) copy(reflected, b);
  copy(placed, to);
}

template <class T>
bool hand_on_gels(const Routine& routine, const GelsCall<T>& call) {
  return hand_on(routine, call.trans, call.m, call.n, call.nrhs, call.a.local, call.a.row, call.a.column,
                 call.a.descriptor, call.b.local, call.b.row, call.b.column, call.b.descriptor, call.work,
                 call.lwork, call.info, std::size_t{1});
}

/// Likewise. A with fewer rows than columns: A^H is factorized, whose QR factors are A's LQ factors.
template <class T>
void gels(const Routine& routine, const GelsCall<T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    const bool tall = *call.m >= *call.n;
    const SubMatrix a = call.a.matrix(*call.m, *call.n);
    const SubMatrix b = call.b.matrix(std::max(*call.m, *call.n), *call.nrhs);
    const std::optional<Op> op = op_of(*call.trans);
    LinearCall decision(routine, call.a.context(), call.info);
    decision.key().add(op == Op::none ? 1 : 0);
    decision.require(
        op == Op::none || op == (is_complex(dtype_of<T>()) ? Op::conjugate_transpose : Op::transpose), 1);
    decision.add_plain(a, {2, 3, 8});
    decision.add_plain(b, {tall ? 2 : 3, 4, 12});
    if (decision.right()) {
      const Deal& dealt = tall ? a.descriptor.rows : a.descriptor.columns;
      const std::int64_t first = tall ? a.row : a.column;
      decision.require(b.descriptor.rows.block == dealt.block, 12);
      decision.require(b.row % dealt.block == first % dealt.block, 10);
    }
    const std::int64_t work = decision.right() ? work_of_gels(a, b, decision.coordinates()) : 0;
    decision.require(*call.lwork >= work, 14);
    decision.compute(
        *call.nrhs == 0 ? 0 : 1.0 * *call.m * *call.n * std::min(*call.m, *call.n), qr_threshold,
        dtype_of<T>(),
        [&] {
          Array matrix = call.a.array(decision.grid(), a), sides = call.b.array(decision.grid(), b);
          const bool adjoint = (op == Op::none) != tall;
          check_range<T>(matrix,
                         adjoint ? sides.window({0, 0}, {std::min(a.rows, a.columns), b.columns}) : sides,
                         call.a.context());
          const Array factored = tall ? matrix : adjoint_of<T>(matrix);
          solve_least_squares<T>(Qr(factored), factored, matrix, sides, adjoint);
          write_work(call.work, work);
          *call.info = 0;
        },
        [&] { return hand_on_gels(routine, call); });
  });
}

}  // namespace
}  // namespace partita::scalapack

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_QR(letter, LETTER, T)                                                                    \
  extern "C" PARTITA_API void p##letter##geqrf_(const int* m, const int* n, T* a, const int* ia,         \
                                                const int* ja, const int* desca, T* tau, T* work,        \
                                                const int* lwork, int* info) {                           \
    partita::scalapack::geqrf<T>({"P" #LETTER "GEQRF", "p" #letter "geqrf_"},                            \
                                 {m, n, {a, ia, ja, desca}, tau, work, lwork, info});                    \
  }                                                                                                      \
  extern "C" PARTITA_API void p##letter##gels_(const char* trans, const int* m, const int* n,            \
                                               const int* nrhs, T* a, const int* ia, const int* ja,      \
                                               const int* desca, T* b, const int* ib, const int* jb,     \
                                               const int* descb, T* work, const int* lwork, int* info) { \
    partita::scalapack::gels<T>(                                                                         \
        {"P" #LETTER "GELS", "p" #letter "gels_"},                                                       \
        {trans, m, n, nrhs, {a, ia, ja, desca}, {b, ib, jb, descb}, work, lwork, info});                 \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_EACH_DTYPE(PARTITA_QR)
