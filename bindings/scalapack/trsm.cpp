// p?trsm: op(sub(A)) X = alpha sub(B), or X op(sub(A)) = alpha sub(B).
#include <partita/linalg.hpp>

#include "combine.hpp"
#include "linear.hpp"

namespace partita::scalapack {
namespace {

template <class T>
struct TrsmCall {
  const char* side;
  const char* uplo;
  const char* trans;
  const char* diag;
  const int* m;
  const int* n;
  const T* alpha;
  MatrixArgument<const T> a;
  MatrixArgument<T> b;
};

/// 'L' and 'R'; 'U' and 'N': whether it is the first of the two letters, in either case.
std::optional<bool> is_first(char letter, const char* letters) {
  const std::size_t at = std::string_view(letters).find(letter);
  return at == std::string_view::npos ? std::nullopt : std::optional(at < 2);
}

/// X op(A) = B is op(A)^T X^T = B^T.
Op transposed(Op op) {
  if (op == Op::none) return Op::transpose;
  return op == Op::transpose ? Op::none : Op::conjugate;
}

template <class T>
void solve_into(const Array& a, Array& b, bool left, TriangularOptions& options, T alpha) {
  options.order = left ? Order::column_major : Order::row_major;
  if (!left) options.op = transposed(options.op);
  const Array x = solve_triangular(a, left ? b : b.permuted({1, 0}), options);
  combine(alpha, left ? x.local() : x.permuted({1, 0}).local(), false, T(0), b.local());
}

/// Collective over the grid, blocking.
template <class T>
void trsm(const Routine& routine, const TrsmCall<T>& call) noexcept {
  run(call.a.context(), routine, [&] {
    const auto left = is_first(*call.side, "LlRr"), unit = is_first(*call.diag, "UuNn");
    const std::optional<bool> upper = is_upper(*call.uplo);
    const std::optional<Op> op = op_of(*call.trans);
    const int order = left.value_or(true) ? *call.m : *call.n;
    const int order_position = left.value_or(true) ? 5 : 6;
    const SubMatrix a = call.a.matrix(order, order), b = call.b.matrix(*call.m, *call.n);
    LinearCall decision(routine, call.a.context(), nullptr);
    decision.require(left.has_value(), 1);
    decision.require(upper.has_value(), 2);
    decision.require(op.has_value(), 3);
    decision.require(unit.has_value(), 4);
    for (const auto& choice : {left, upper, unit}) decision.key().add(choice.value_or(false) ? 1 : 0);
    decision.key().add(static_cast<int>(dtype_of<T>())).add(static_cast<int>(op.value_or(Op::none)));
    decision.add(a, {order_position, order_position, 11});
    decision.add(b, {5, 6, 15});
    decision.compute(
        *call.alpha == T(0) ? 0 : 1.0 * order * *call.m * *call.n, triangular_threshold, dtype_of<T>(),
        [&] {
          TriangularOptions options;
          options.op = *op;
          options.upper = *upper;
          options.unit_diagonal = *unit;
          Array sides = call.b.array(decision.grid(), b);
          solve_into(call.a.array(decision.grid(), a), sides, *left, options, *call.alpha);
        },
        [&] {
          return hand_on(routine, call.side, call.uplo, call.trans, call.diag, call.m, call.n, call.alpha,
                         call.a.local, call.a.row, call.a.column, call.a.descriptor, call.b.local, call.b.row,
                         call.b.column, call.b.descriptor);
        });
  });
}

}  // namespace
}  // namespace partita::scalapack

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_TRSM(letter, LETTER, T)                                                                      \
  extern "C" PARTITA_API void p##letter##trsm_(const char* side, const char* uplo, const char* trans,        \
                                               const char* diag, const int* m, const int* n, const T* alpha, \
                                               const T* a, const int* ia, const int* ja, const int* desca,   \
                                               T* b, const int* ib, const int* jb, const int* descb) {       \
    partita::scalapack::trsm<T>(                                                                             \
        {"P" #LETTER "TRSM", "p" #letter "trsm_"},                                                           \
        {side, uplo, trans, diag, m, n, alpha, {a, ia, ja, desca}, {b, ib, jb, descb}});                     \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_EACH_DTYPE(PARTITA_TRSM)
