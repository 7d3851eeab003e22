// p?potrf, p?potrs and p?posv. With UPLO = 'U' the library sees the transposed matrix, A^T = conj(A), of
// which it reads the lower triangle: A^T = L L^H is A = U^H U with U = L^T.
#include <partita/linalg.hpp>

#include "linear.hpp"
#include "triangle.hpp"

namespace partita::scalapack {
namespace {

template <class T>
struct PotrfCall {
  const char* uplo;
  const int* n;
  MatrixArgument<T> a;
  int* info;
};

/// Of p?potrs, and of p?posv.
template <class T, class A>
struct PotrsCall {
  const char* uplo;
  const int* n;
  const int* nrhs;
  MatrixArgument<A> a;
  MatrixArgument<T> b;
  int* info;
};

/// With its triangle below the diagonal.
template <class T>
Array as_lower(const MatrixArgument<T>& argument, Grid& grid, const SubMatrix& matrix, bool upper) {
  const Array array = argument.array(grid, matrix);
  return upper ? array.permuted({1, 0}) : array;
}

/// The factors in place of the triangle; 0, or the order of the first minor that is not positive.
template <class T>
int factorize_triangle(std::optional<Cholesky>& factors, const Array& a) {
  try {
    factors.emplace(a);
  } catch (const SingularError& error) {
    return static_cast<int>(error.index()) + 1;
  }
  const Order order = a.local().strides[0] == 1 ? Order::column_major : Order::row_major;
  Array lower = empty(a.context(), a.layout(), a.dtype(), {.order = order});
  factors->lower_into(lower);
  along_lower_triangle<T>(lower, a, [](T& to, const T& from, bool) { to = from; });
  return 0;
}

void solve_with_triangle(const Cholesky& factors, bool upper, Array& b) {
  factors.solve_into(b, b, {.op = upper ? Op::conjugate : Op::none});
}

/// Collective over the grid, blocking.
template <class T>
void potrf(const Routine& routine, const PotrfCall<T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    const SubMatrix a = call.a.matrix(*call.n, *call.n);
    const std::optional<bool> upper = is_upper(*call.uplo);
    LinearCall decision(routine, call.a.context(), call.info);
    decision.key().add(upper.value_or(false) ? 1 : 0);
    decision.require(upper.has_value(), 1);
    decision.add_factorized(a, {2, 2, 6});
    decision.compute(
        1.0 * *call.n * *call.n * *call.n, cholesky_threshold, dtype_of<T>(),
        [&] {
          std::optional<Cholesky> factors;
          *call.info = factorize_triangle<T>(factors, as_lower(call.a, decision.grid(), a, *upper));
        },
        [&] {
          return hand_on(routine, call.uplo, call.n, call.a.local, call.a.row, call.a.column,
                         call.a.descriptor, call.info, std::size_t{1});
        });
  });
}

template <class T, class A>
bool hand_on_sides(const Routine& routine, const PotrsCall<T, A>& call) {
  return hand_on(routine, call.uplo, call.n, call.nrhs, call.a.local, call.a.row, call.a.column,
                 call.a.descriptor, call.b.local, call.b.row, call.b.column, call.b.descriptor, call.info,
                 std::size_t{1});
}

/// `ours(a, b, upper)`. `size`: see LinearCall::compute.
template <class T, class A, class Ours>
void with_sides(const Routine& routine, const PotrsCall<T, A>& call, double size, double smallest,
                const Ours& ours) {
  const SubMatrix a = call.a.matrix(*call.n, *call.n), b = call.b.matrix(*call.n, *call.nrhs);
  const std::optional<bool> upper = is_upper(*call.uplo);
  LinearCall decision(routine, call.a.context(), call.info);
  decision.key().add(upper.value_or(false) ? 1 : 0);
  decision.require(upper.has_value(), 1);
  decision.add_factorized(a, {2, 2, 7});
  decision.add_right_sides(b, {2, 3, 11}, a);
  decision.compute(
      size, smallest, dtype_of<T>(),
      [&] {
        Array sides = call.b.array(decision.grid(), b);
        ours(as_lower(call.a, decision.grid(), a, *upper), sides, *upper);
      },
      [&] { return hand_on_sides(routine, call); });
}

/// Likewise.
template <class T>
void potrs(const Routine& routine, const PotrsCall<T, const T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    with_sides(routine, call, 1.0 * *call.n * *call.n * *call.nrhs, solve_threshold(*call.nrhs),
               [&](const Array& a, Array& b, bool upper) {
                 solve_with_triangle(Cholesky::from_lower(a), upper, b);
                 *call.info = 0;
               });
  });
}

/// Likewise. `solve`: p?potrs, which takes the rest of the call if there is no memory for it.
template <class T>
void posv(const Routine& routine, const Routine& solve, const PotrsCall<T, T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    with_sides(routine, call, 1.0 * *call.n * *call.n * *call.n, cholesky_threshold,
               [&](const Array& a, Array& b, bool upper) {
                 std::optional<Cholesky> factors;
                 *call.info = factorize_triangle<T>(factors, a);
                 if (*call.info != 0 || *call.nrhs == 0) return;
                 try {
                   solve_with_triangle(*factors, upper, b);
                 } catch (const MemoryError&) {
                   if (!hand_on_sides(solve, call)) throw;
                 }
               });
  });
}

}  // namespace
}  // namespace partita::scalapack

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_CHOLESKY(letter, LETTER, T)                                                                  \
  extern "C" PARTITA_API void p##letter##potrf_(const char* uplo, const int* n, T* a, const int* ia,         \
                                                const int* ja, const int* desca, int* info) {                \
    partita::scalapack::potrf<T>({"P" #LETTER "POTRF", "p" #letter "potrf_"},                                \
                                 {uplo, n, {a, ia, ja, desca}, info});                                       \
  }                                                                                                          \
  extern "C" PARTITA_API void p##letter##potrs_(const char* uplo, const int* n, const int* nrhs, const T* a, \
                                                const int* ia, const int* ja, const int* desca, T* b,        \
                                                const int* ib, const int* jb, const int* descb, int* info) { \
    partita::scalapack::potrs<T>({"P" #LETTER "POTRS", "p" #letter "potrs_"},                                \
                                 {uplo, n, nrhs, {a, ia, ja, desca}, {b, ib, jb, descb}, info});             \
  }                                                                                                          \
  extern "C" PARTITA_API void p##letter##posv_(const char* uplo, const int* n, const int* nrhs, T* a,        \
                                               const int* ia, const int* ja, const int* desca, T* b,         \
                                               const int* ib, const int* jb, const int* descb, int* info) {  \
    partita::scalapack::posv<T>({"P" #LETTER "POSV", "p" #letter "posv_"},                                   \
                                {"P" #LETTER "POTRS", "p" #letter "potrs_"},                                 \
                                {uplo, n, nrhs, {a, ia, ja, desca}, {b, ib, jb, descb}, info});              \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_EACH_DTYPE(PARTITA_CHOLESKY)
