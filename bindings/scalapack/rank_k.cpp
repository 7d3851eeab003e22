// p?syrk and p?herk: a triangle of sub(C) = alpha op(A) op(A)^T (or ^H) + beta sub(C).
#include <algorithm>
#include <complex>
#include <partita/matmul.hpp>

#include "combine.hpp"
#include "linear.hpp"
#include "triangle.hpp"
#include "wide.hpp"

namespace partita::scalapack {
namespace {

/// `Scalar`: of alpha and beta; p?herk's are real.
template <class T, class Scalar>
struct RankKCall {
  const char* uplo;
  const char* trans;
  const int* n;
  const int* k;
  const Scalar* alpha;
  MatrixArgument<const T> a;
  const Scalar* beta;
  MatrixArgument<T> c;
};

/// What the triangle is updated with. `hermitian`: the transposed factor is conjugated, the diagonal real.
template <class T>
struct RankKUpdate {
  Array a;
  bool transposed = false;  ///< op(A) = A^T (or A^H)
  bool upper = false;
  bool hermitian = false;
  T alpha{};
  T beta{};

  /// Rows [first, first + count) of op(A), before op.
  Array rows(std::int64_t first, std::int64_t count) const {
    return transposed ? a.window({0, first}, {a.shape()[0], count})
                      : a.window({first, 0}, {count, a.shape()[1]});
  }
  MatmulOptions options() const {
    const Op op = hermitian ? Op::conjugate_transpose : Op::transpose;
    MatmulOptions options;
    options.op_a = transposed ? op : Op::none;
    options.op_b = transposed ? Op::none : op;
    return options;
  }
};

/// A triangle on the diagonal, by the product of all of its square.
template <class T>
void update_square(const RankKUpdate<T>& update, const Array& c, std::int64_t first) {
  const Array rows = update.rows(first, c.shape()[0]);
  Array product = empty(c.context(), c.layout(), c.dtype(), {.order = Order::column_major});
  matmul_into(rows, rows, nullptr, product, update.options());
  const auto triangle = [&](const Array& array) { return update.upper ? array.permuted({1, 0}) : array; };
  along_lower_triangle<T>(triangle(product), triangle(c), [&](T& to, const T& from, bool on_diagonal) {
    T value = times(update.alpha, from);
    if (update.beta != T(0)) value += times(update.beta, to);
    to = on_diagonal && update.hermitian ? T(std::real(value)) : value;
  });
}

/// Halves of the diagonal, and the rectangle next to them, down to squares of at most `square` rows.
template <class T>
void update_triangle(const RankKUpdate<T>& update, const Array& c, std::int64_t first, std::int64_t square) {
  const std::int64_t n = c.shape()[0];
  if (n <= square) return update_square(update, c, first);
  const std::int64_t half = n / 2, rest = n - half;
  update_triangle(update, c.window({0, 0}, {half, half}), first, square);
  update_triangle(update, c.window({half, half}, {rest, rest}), first + half, square);
  const Array above = update.rows(first, half), below = update.rows(first + half, rest);
  Array rectangle = update.upper ? c.window({0, half}, {half, rest}) : c.window({half, 0}, {rest, half});
  MatmulOptions options = update.options();
  options.alpha = wide(update.alpha);
  options.beta = wide(update.beta);
  matmul_into(update.upper ? above : below, update.upper ? below : above,
              update.beta == T(0) ? nullptr : &rectangle, rectangle, options);
}

/// Collective over the grid, blocking.
template <class T, class Scalar>
void rank_k(const Routine& routine, bool hermitian, const RankKCall<T, Scalar>& call) noexcept {
  run(call.a.context(), routine, [&] {
    const std::optional<bool> upper = is_upper(*call.uplo);
    const std::optional<Op> op = op_of(*call.trans);
    const bool transposed = op != Op::none;
    const int n = *call.n, k = *call.k;
    const SubMatrix a = transposed ? call.a.matrix(k, n) : call.a.matrix(n, k), c = call.c.matrix(n, n);
    LinearCall decision(routine, call.a.context(), nullptr);
    decision.require(upper.has_value(), 1);
    const Op refused = hermitian ? Op::transpose : Op::conjugate_transpose;
    decision.require(op.has_value() && (op != refused || !is_complex(dtype_of<T>())), 2);
    decision.key().add(static_cast<int>(dtype_of<T>())).add(upper.value_or(false) ? 1 : 0);
    decision.key().add(transposed ? 1 : 0).add(hermitian ? 1 : 0);
    decision.add(a, transposed ? MatrixPositions{4, 3, 9} : MatrixPositions{3, 4, 9});
    decision.add(c, {3, 3, 14});
    decision.compute(
        *call.alpha == Scalar(0) ? 0 : 0.5 * n * n * k, rank_k_threshold, dtype_of<T>(),
        [&] {
          RankKUpdate<T> update;
          update.transposed = transposed;
          update.upper = *upper;
          update.hermitian = hermitian;
          update.alpha = *call.alpha;
          update.beta = *call.beta;
          update.a = call.a.array(decision.grid(), a);
          constexpr std::int64_t parts = 8, smallest_square = 128;
          update_triangle(update, call.c.array(decision.grid(), c), 0,
                          std::max(smallest_square, (n + parts - 1) / parts));
        },
        [&] {
          return hand_on(routine, call.uplo, call.trans, call.n, call.k, call.alpha, call.a.local, call.a.row,
                         call.a.column, call.a.descriptor, call.beta, call.c.local, call.c.row, call.c.column,
                         call.c.descriptor);
        });
  });
}

}  // namespace
}  // namespace partita::scalapack

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_RANK_K(symbol, NAME, T, Scalar, hermitian)                                            \
  extern "C" PARTITA_API void symbol(const char* uplo, const char* trans, const int* n, const int* k, \
                                     const Scalar* alpha, const T* a, const int* ia, const int* ja,   \
                                     const int* desca, const Scalar* beta, T* c, const int* ic,       \
                                     const int* jc, const int* descc) {                               \
    partita::scalapack::rank_k<T, Scalar>(                                                            \
        {NAME, #symbol}, hermitian,                                                                   \
        {uplo, trans, n, k, alpha, {a, ia, ja, desca}, beta, {c, ic, jc, descc}});                    \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_RANK_K(pssyrk_, "PSSYRK", float, float, false)
PARTITA_RANK_K(pdsyrk_, "PDSYRK", double, double, false)
PARTITA_RANK_K(pcsyrk_, "PCSYRK", std::complex<float>, std::complex<float>, false)
PARTITA_RANK_K(pzsyrk_, "PZSYRK", std::complex<double>, std::complex<double>, false)
PARTITA_RANK_K(pcherk_, "PCHERK", std::complex<float>, float, true)
PARTITA_RANK_K(pzherk_, "PZHERK", std::complex<double>, double, true)
