// p?getrf, p?getrs and p?gesv.
#include <partita/linalg.hpp>
#include <utility>
#include <vector>

#include "linear.hpp"

namespace partita::scalapack {
namespace {

template <class T>
struct GetrfCall {
  const int* m;
  const int* n;
  MatrixArgument<T> a;
  int* ipiv;
  int* info;
};

template <class T>
struct GetrsCall {
  const char* trans;
  const int* n;
  const int* nrhs;
  MatrixArgument<const T> a;
  const int* ipiv;
  MatrixArgument<T> b;
  int* info;
};

template <class T>
struct GesvCall {
  const int* n;
  const int* nrhs;
  MatrixArgument<T> a;
  int* ipiv;
  MatrixArgument<T> b;
  int* info;
};

/// IPIV: row `row` of the matrix was exchanged with that row, counted from 1, where this process owns `row`.
void write_pivots(const Lu& lu, const SubMatrix& a, const Coordinates& grid, int* ipiv) {
  const Array pivots = lu.pivots();
  const auto* const rows = pivots.data<std::int32_t>();
  for_each_owned(
      a.descriptor.rows, a.row, std::min(a.rows, a.columns), grid.row, grid.rows,
      [&](std::int64_t i, std::int64_t local) { ipiv[local] = static_cast<int>(a.row) + rows[i] + 1; });
}

/// The pivots of all rows of the sub-matrix, counted from 0 in it. Collective. Throws UnsupportedError, on
/// all processes, if they are not those of a factorization of the sub-matrix.
std::vector<std::int32_t> read_pivots(const SubMatrix& a, const Coordinates& grid, const int* ipiv) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(a.rows));
  for_each_owned(
      a.descriptor.rows, a.row, a.rows, grid.row, grid.rows,
      [&](std::int64_t i, std::int64_t local) { rows[static_cast<std::size_t>(i)] = ipiv[local]; });
  take_largest(a.descriptor.context, rows);
  for (std::int32_t i = 0; std::int32_t & row : rows) {
    row -= static_cast<std::int32_t>(a.row) + 1;
    if (row < i++ || row >= a.rows)
      throw UnsupportedError("p?getrs: IPIV is not of a factorization of this sub-matrix");
  }
  return rows;
}

/// Factors and pivots, in place of the matrix. The matrix is written last.
int store(const Lu& lu, Array& a, const SubMatrix& matrix, const Coordinates& grid, int* ipiv) {
  lu.packed_into(a);
  write_pivots(lu, matrix, grid, ipiv);
  const auto zero = lu.first_zero_pivot();
  return zero ? static_cast<int>(*zero) + 1 : 0;
}

/// Collective over the grid, blocking.
template <class T>
void getrf(const Routine& routine, const GetrfCall<T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    const SubMatrix a = call.a.matrix(*call.m, *call.n);
    LinearCall decision(routine, call.a.context(), call.info);
    decision.add_factorized(a, {1, 2, 6});
    decision.require(a.descriptor.rows.extent != 1, 6);  // ScaLAPACK does not look at a matrix of one row
    decision.compute(
        1.0 * *call.m * *call.n * std::min(*call.m, *call.n), lu_threshold, dtype_of<T>(),
        [&] {
          Array matrix = call.a.array(decision.grid(), a);
          *call.info = store(Lu(matrix), matrix, a, decision.coordinates(), call.ipiv);
        },
        [&] {
          return hand_on(routine, call.m, call.n, call.a.local, call.a.row, call.a.column, call.a.descriptor,
                         call.ipiv, call.info);
        });
  });
}

template <class T>
bool hand_on_solve(const Routine& routine, const GetrsCall<T>& call) {
  return hand_on(routine, call.trans, call.n, call.nrhs, call.a.local, call.a.row, call.a.column,
                 call.a.descriptor, call.ipiv, call.b.local, call.b.row, call.b.column, call.b.descriptor,
                 call.info, std::size_t{1});
}

/// Likewise.
template <class T>
void getrs(const Routine& routine, const GetrsCall<T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    const SubMatrix a = call.a.matrix(*call.n, *call.n), b = call.b.matrix(*call.n, *call.nrhs);
    const std::optional<Op> op = op_of(*call.trans);
    LinearCall decision(routine, call.a.context(), call.info);
    decision.key().add(static_cast<int>(op.value_or(Op::none)));
    decision.require(op.has_value(), 1);
    decision.add_factorized(a, {2, 2, 7});
    decision.add_right_sides(b, {2, 3, 12}, a);
    decision.compute(
        1.0 * *call.n * *call.n * *call.nrhs, solve_threshold(*call.nrhs), dtype_of<T>(),
        [&] {
          const Coordinates& grid = decision.coordinates();
          auto rows = read_pivots(a, grid, call.ipiv);
          const Context& context = decision.grid().context();
          const Array pivots = wrap(context, view(rows), Replicated(), {a.rows});
          Array right_sides = call.b.array(decision.grid(), b);
          const Lu lu = Lu::from_packed(call.a.array(decision.grid(), a), pivots);
          lu.solve_into(right_sides, right_sides, {.op = *op});
          *call.info = 0;
        },
        [&] { return hand_on_solve(routine, call); });
  });
}

/// What is left of p?gesv when the matrix is factorized: the factors are used again if there is memory.
template <class T>
void solve_factorized(const Lu& lu, const Routine& solve, const GesvCall<T>& call, Array& right_sides) {
  try {
    lu.solve_into(right_sides, right_sides);
  } catch (const MemoryError&) {
    const MatrixArgument<const T> a{call.a.local, call.a.row, call.a.column, call.a.descriptor};
    if (!hand_on_solve<T>(solve, {"N", call.n, call.nrhs, a, call.ipiv, call.b, call.info})) throw;
  }
}

/// Likewise. `solve`: p?getrs.
template <class T>
void gesv(const Routine& routine, const Routine& solve, const GesvCall<T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    const SubMatrix a = call.a.matrix(*call.n, *call.n), b = call.b.matrix(*call.n, *call.nrhs);
    LinearCall decision(routine, call.a.context(), call.info);
    decision.add_factorized(a, {1, 1, 6});
    decision.add_right_sides(b, {1, 2, 11}, a);
    decision.require(a.descriptor.rows.extent != 1, 6);
    decision.compute(
        1.0 * *call.n * *call.n * *call.n, lu_threshold, dtype_of<T>(),
        [&] {
          Array matrix = call.a.array(decision.grid(), a);
          const Lu lu(matrix);
          *call.info = store(lu, matrix, a, decision.coordinates(), call.ipiv);
          if (*call.info != 0 || *call.nrhs == 0) return;
          Array right_sides = call.b.array(decision.grid(), b);
          solve_factorized(lu, solve, call, right_sides);
        },
        [&] {
          return hand_on(routine, call.n, call.nrhs, call.a.local, call.a.row, call.a.column,
                         call.a.descriptor, call.ipiv, call.b.local, call.b.row, call.b.column,
                         call.b.descriptor, call.info);
        });
  });
}

}  // namespace
}  // namespace partita::scalapack

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_LU(letter, LETTER, T)                                                                       \
  extern "C" PARTITA_API void p##letter##getrf_(const int* m, const int* n, T* a, const int* ia,            \
                                                const int* ja, const int* desca, int* ipiv, int* info) {    \
    partita::scalapack::getrf<T>({"P" #LETTER "GETRF", "p" #letter "getrf_"},                               \
                                 {m, n, {a, ia, ja, desca}, ipiv, info});                                   \
  }                                                                                                         \
  extern "C" PARTITA_API void p##letter##getrs_(                                                            \
      const char* trans, const int* n, const int* nrhs, const T* a, const int* ia, const int* ja,           \
      const int* desca, const int* ipiv, T* b, const int* ib, const int* jb, const int* descb, int* info) { \
    partita::scalapack::getrs<T>({"P" #LETTER "GETRS", "p" #letter "getrs_"},                               \
                                 {trans, n, nrhs, {a, ia, ja, desca}, ipiv, {b, ib, jb, descb}, info});     \
  }                                                                                                         \
  extern "C" PARTITA_API void p##letter##gesv_(const int* n, const int* nrhs, T* a, const int* ia,          \
                                               const int* ja, const int* desca, int* ipiv, T* b,            \
                                               const int* ib, const int* jb, const int* descb, int* info) { \
    partita::scalapack::gesv<T>({"P" #LETTER "GESV", "p" #letter "gesv_"},                                  \
                                {"P" #LETTER "GETRS", "p" #letter "getrs_"},                                \
                                {n, nrhs, {a, ia, ja, desca}, ipiv, {b, ib, jb, descb}, info});             \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_EACH_DTYPE(PARTITA_LU)
