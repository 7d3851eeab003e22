// p?geadd and p?tran: sub(C) = beta sub(C) + alpha op(sub(A)).
#include <partita/redistribute.hpp>

#include "call.hpp"
#include "combine.hpp"
#include "matrix.hpp"

namespace partita::scalapack {
namespace {

/// Where m stands in the list, and A's and C's descriptors; n follows m.
struct Positions {
  int m;
  int desca;
  int descc;
};
constexpr Positions geadd_positions{2, 8, 13};
constexpr Positions tran_positions{1, 7, 12};

struct Problem {
  Op op = Op::none;
  SubMatrix a;  ///< before op
  SubMatrix c;
  Positions positions;
};

/// The arguments that the two families have in common, as Fortran passes them.
template <class T>
struct AddCall {
  const int* m;
  const int* n;
  const T* alpha;
  const T* a;
  const int* ia;
  const int* ja;
  const int* desca;
  const T* beta;
  T* c;
  const int* ic;
  const int* jc;
  const int* descc;
};

template <class T>
Problem problem_of(Op op, const AddCall<T>& call, const Positions& positions) {
  Problem problem{op, {}, {}, positions};
  problem.a = {read_descriptor(call.desca), *call.ia - 1, *call.ja - 1, *call.m, *call.n};
  problem.c = {read_descriptor(call.descc), *call.ic - 1, *call.jc - 1, *call.m, *call.n};
  if (op != Op::none) std::swap(problem.a.rows, problem.a.columns);
  return problem;
}

/// The position of the first wrong argument; 0: none.
int wrong_argument(const Problem& problem, bool op_known, const Coordinates& grid) {
  const auto& [m, desca, descc] = problem.positions;
  const int context = problem.a.descriptor.context;
  Arguments arguments;
  if (grid.known() && !op_known) arguments.refuse(1);
  const bool straight = problem.op == Op::none;
  arguments.check(problem.a, straight ? MatrixPositions{m, m + 1, desca} : MatrixPositions{m + 1, m, desca},
                  context, grid);
  arguments.check(problem.c, {m, m + 1, descc}, context, grid);
  return arguments.position();
}

template <class T>
struct Sum {
  T alpha;
  T beta;
  const T* a;
  T* c;
};

/// C = beta C + alpha op(A): A comes to where C is, straight into C where nothing else is left to do, and is
/// added there.
template <class T>
void add(const Problem& problem, const Layout& a_layout, const Layout& c_layout, const Sum<T>& sum,
         Grid& grid) {
  const bool conjugate = problem.op == Op::conjugate_transpose && is_complex(dtype_of<T>());
  const bool transposed = problem.op != Op::none;
  const Array a = array_of(grid, problem.a, a_layout, const_cast<T*>(sum.a), dtype_of<T>());  // only read
  Array c = array_of(grid, problem.c, c_layout, sum.c, dtype_of<T>());
  if (!transposed && a_layout == c_layout) return combine(sum.alpha, a.local(), false, sum.beta, c.local());
  RedistributeOptions options;
  options.order = Order::column_major;
  if (transposed) options.axes = {1, 0};
  if (sum.alpha == T(1) && sum.beta == T(0) && !conjugate) return redistribute(a, c, options);
  const Array moved = redistribute(a, c_layout, options);
  combine(sum.alpha, moved.local(), conjugate, sum.beta, c.local());
}

template <class T>
bool is_worth_it(const Problem& problem, const AddCall<T>& call, Grid& grid) {
  const Dtype dtype = dtype_of<T>();
  const double bytes = 1.0 * *call.m * *call.n * static_cast<double>(size_of(dtype)) / grid.processes();
  CallKey key;
  key.add(static_cast<int>(dtype)).add(static_cast<int>(problem.op)).add(problem.a).add(problem.c);
  key.add(*call.alpha == T(1) && *call.beta == T(0) ? 1 : 0);
  return grid.seen_calls().worth(bytes, sum_threshold, key);
}

/// False: no layout of ours describes A or C.
template <class T, class HandOn>
bool computed(const Problem& problem, const AddCall<T>& call, const Coordinates& coordinates,
              const HandOn& hand_on) {
  const auto c = layout_of(problem.c, coordinates);
  const bool reads_a = *call.alpha != T(0);
  const auto a = reads_a ? layout_of(problem.a, coordinates) : c;
  if (!a || !c) return false;
  const auto ours = [&] {
    if (!reads_a) return scale(*call.beta, view_of(problem.c, coordinates, *c, call.c, dtype_of<T>()));
    Grid& grid = Grid::of(problem.c.descriptor.context, coordinates);
    add<T>(problem, *a, *c, {*call.alpha, *call.beta, call.a, call.c}, grid);
  };
  compute_or_hand_on(ours, hand_on);
  return true;
}

template <class T, class HandOn>
void checked(const Routine& routine, const Problem& problem, bool op_known, const AddCall<T>& call,
             HandOn&& hand_on) {
  const int context = problem.a.descriptor.context;
  const Coordinates grid = Coordinates::of(context);
  const int wrong = wrong_argument(problem, op_known, grid);
  if (wrong != 0) return report_pblas_argument(context, routine.name, wrong);
  if (*call.m == 0 || *call.n == 0 || !grid.inside()) return;
  if (*call.alpha == T(0) && *call.beta == T(1)) return;
  const bool worth = *call.alpha == T(0) || is_worth_it(problem, call, Grid::of(context, grid));
  if (!worth && hand_on()) return;
  if (computed(problem, call, grid, hand_on) || hand_on()) return;
  const bool a = !layout_of(problem.a, grid);
  report_unsupported(routine.name, a ? problem.a : problem.c,
                     a ? problem.positions.desca : problem.positions.descc);
}

/// Collective over the grid, blocking.
template <class T>
void geadd(const Routine& routine, const char* trans, const AddCall<T>& call) noexcept {
  run(call.desca[1], routine, [&] {
    const std::optional<Op> op = op_of(*trans);
    checked(routine, problem_of(op.value_or(Op::transpose), call, geadd_positions), op.has_value(), call,
            [&] {
              return hand_on(routine, trans, call.m, call.n, call.alpha, call.a, call.ia, call.ja, call.desca,
                             call.beta, call.c, call.ic, call.jc, call.descc);
            });
  });
}

/// Likewise. `op`: transpose, or conjugate_transpose.
template <class T>
void tran(const Routine& routine, Op op, const AddCall<T>& call) noexcept {
  run(call.desca[1], routine, [&] {
    checked(routine, problem_of(op, call, tran_positions), true, call, [&] {
      return hand_on(routine, call.m, call.n, call.alpha, call.a, call.ia, call.ja, call.desca, call.beta,
                     call.c, call.ic, call.jc, call.descc);
    });
  });
}

}  // namespace
}  // namespace partita::scalapack

// The lengths that Fortran adds for characters come last and are not looked at.
// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_GEADD(letter, LETTER, T)                                                                  \
  extern "C" PARTITA_API void p##letter##geadd_(const char* trans, const int* m, const int* n,            \
                                                const T* alpha, const T* a, const int* ia, const int* ja, \
                                                const int* desca, const T* beta, T* c, const int* ic,     \
                                                const int* jc, const int* descc) {                        \
    partita::scalapack::geadd<T>({"P" #LETTER "GEADD", "p" #letter "geadd_"}, trans,                      \
                                 {m, n, alpha, a, ia, ja, desca, beta, c, ic, jc, descc});                \
  }

#define PARTITA_TRAN(symbol, NAME, T, op)                                                                   \
  extern "C" PARTITA_API void symbol(const int* m, const int* n, const T* alpha, const T* a, const int* ia, \
                                     const int* ja, const int* desca, const T* beta, T* c, const int* ic,   \
                                     const int* jc, const int* descc) {                                     \
    partita::scalapack::tran<T>({NAME, #symbol}, op,                                                        \
                                {m, n, alpha, a, ia, ja, desca, beta, c, ic, jc, descc});                   \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_EACH_DTYPE(PARTITA_GEADD)

PARTITA_TRAN(pstran_, "PSTRAN", float, partita::Op::transpose)
PARTITA_TRAN(pdtran_, "PDTRAN", double, partita::Op::transpose)
PARTITA_TRAN(pctranu_, "PCTRANU", std::complex<float>, partita::Op::transpose)
PARTITA_TRAN(pztranu_, "PZTRANU", std::complex<double>, partita::Op::transpose)
PARTITA_TRAN(pctranc_, "PCTRANC", std::complex<float>, partita::Op::conjugate_transpose)
PARTITA_TRAN(pztranc_, "PZTRANC", std::complex<double>, partita::Op::conjugate_transpose)
