// p?gemm: sub(C) = alpha op(sub(A)) op(sub(B)) + beta sub(C). Small products and what no layout of ours
// describes go to the next routine.
#include <chrono>

#include "call.hpp"
#include "combine.hpp"
#include "devices.hpp"
#include "matrix.hpp"
#include "wide.hpp"

namespace partita::scalapack {
namespace {

constexpr int m_position = 3;
constexpr int n_position = 4;
constexpr int k_position = 5;
constexpr int desca_position = 10;
constexpr int descb_position = 14;
constexpr int descc_position = 19;

/// The arguments as Fortran passes them.
template <class T>
struct GemmCall {
  const char* transa;
  const char* transb;
  const int* m;
  const int* n;
  const int* k;
  const T* alpha;
  const T* a;
  const int* ia;
  const int* ja;
  const int* desca;
  const T* b;
  const int* ib;
  const int* jb;
  const int* descb;
  const T* beta;
  T* c;
  const int* ic;
  const int* jc;
  const int* descc;
};

template <class T>
bool hand_on(const Routine& routine, const GemmCall<T>& call) {
  return hand_on(routine, call.transa, call.transb, call.m, call.n, call.k, call.alpha, call.a, call.ia,
                 call.ja, call.desca, call.b, call.ib, call.jb, call.descb, call.beta, call.c, call.ic,
                 call.jc, call.descc);
}

/// The three sub-matrices, A and B as they are stored, before op.
struct Problem {
  Op op_a = Op::none;
  Op op_b = Op::none;
  SubMatrix a;
  SubMatrix b;
  SubMatrix c;
};

template <class T>
Problem problem_of(const GemmCall<T>& call) {
  Problem problem;
  problem.op_a = op_of(*call.transa).value_or(Op::transpose);  // another letter is refused later
  problem.op_b = op_of(*call.transb).value_or(Op::transpose);
  problem.a = {read_descriptor(call.desca), *call.ia - 1, *call.ja - 1, *call.m, *call.k};
  problem.b = {read_descriptor(call.descb), *call.ib - 1, *call.jb - 1, *call.k, *call.n};
  problem.c = {read_descriptor(call.descc), *call.ic - 1, *call.jc - 1, *call.m, *call.n};
  if (problem.op_a != Op::none) std::swap(problem.a.rows, problem.a.columns);
  if (problem.op_b != Op::none) std::swap(problem.b.rows, problem.b.columns);
  return problem;
}

/// The position of the first wrong argument; 0: none.
template <class T>
int wrong_argument(const GemmCall<T>& call, const Problem& problem, const Coordinates& grid) {
  const int context = problem.a.descriptor.context;
  Arguments arguments;
  if (grid.known() && !op_of(*call.transa)) arguments.refuse(1);
  if (grid.known() && !op_of(*call.transb)) arguments.refuse(2);
  const auto positions = [](Op op, int rows, int columns, int descriptor) {
    return op == Op::none ? MatrixPositions{rows, columns, descriptor}
                          : MatrixPositions{columns, rows, descriptor};
  };
  arguments.check(problem.a, positions(problem.op_a, m_position, k_position, desca_position), context, grid);
  arguments.check(problem.b, positions(problem.op_b, k_position, n_position, descb_position), context, grid);
  arguments.check(problem.c, {m_position, n_position, descc_position}, context, grid);
  return arguments.position();
}

/// Multiplications of one process.
template <class T>
double size_of_share(const GemmCall<T>& call, const Grid& grid) {
  const double weight = is_complex(dtype_of<T>()) ? 4 : 1;
  return weight * *call.m * *call.n * *call.k / grid.processes();
}

template <class T>
CallKey key_of(const GemmCall<T>& call, const Problem& problem) {
  CallKey key;
  key.add(static_cast<int>(dtype_of<T>()))
      .add(static_cast<int>(problem.op_a))
      .add(static_cast<int>(problem.op_b));
  key.add(*call.beta == T(0) ? 0 : 1).add(problem.a).add(problem.b).add(problem.c);
  return key;
}

struct Layouts {
  std::optional<Layout> a;
  std::optional<Layout> b;
  std::optional<Layout> c;
};

/// Asked once for each kind of call: prices take plans. `operands()`: of the call.
template <class T, class Operands>
bool goes_to_devices(const GemmCall<T>& call, const Problem& problem, const Operands& operands,
                     const MatmulOptions& options, Grid& grid) {
  if (!machine_of_devices()) return false;
  constexpr std::size_t most = 1024;
  auto& chosen = grid.devices_chosen();
  const std::uint64_t key = key_of(call, problem).value();
  if (const auto found = chosen.find(key); found != chosen.end()) return found->second;
  if (chosen.size() == most) chosen.clear();
  const Topology& topology = grid.context().topology();
  return chosen[key] = costs_less_on_devices(operands(), topology, options, *machine_of_devices());
}

template <class T>
void multiply(const GemmCall<T>& call, const Problem& problem, const Layouts& layouts, Grid& grid) {
  // Wrapped memory is not written to through A and B.
  const auto array = [&](const SubMatrix& matrix, const Layout& layout, const T* local) {
    return array_of(grid, matrix, layout, const_cast<T*>(local), dtype_of<T>());
  };
  const Array a = array(problem.a, *layouts.a, call.a);
  const Array b = array(problem.b, *layouts.b, call.b);
  Array c = array(problem.c, *layouts.c, call.c);
  MatmulOptions options;
  options.op_a = problem.op_a;
  options.op_b = problem.op_b;
  options.alpha = wide(*call.alpha);
  options.beta = wide(*call.beta);
  const bool reads_c = *call.beta != T(0);
  const auto operands = [&]() -> MatmulOperands {
    const auto read = reads_c ? std::optional<Operand>(c.operand()) : std::nullopt;
    return {a.operand(), b.operand(), read, c.operand()};
  };
  if (goes_to_devices(call, problem, operands, options, grid) &&
      multiplied_on_devices(grid, a, b, c, reads_c, options)) {
    ++calls.on_devices;
    return;
  }
  matmul_into(a, b, reads_c ? &c : nullptr, c, options);
}

/// What PBLAS itself can do and we cannot.
template <class T>
void not_ours(const Routine& routine, const GemmCall<T>& call, const Problem& problem,
              const Layouts& layouts) {
  if (hand_on(routine, call)) return;
  const bool a = !layouts.a;
  const bool b = !layouts.b;
  report_unsupported(routine.name,
                     a   ? problem.a
                     : b ? problem.b
                         : problem.c,
                     a   ? desca_position
                     : b ? descb_position
                         : descc_position);
}

template <class T>
void compute(const Routine& routine, const GemmCall<T>& call, const Problem& problem, bool product,
             Grid& grid) {
  const Coordinates& coordinates = grid.coordinates();
  Layouts layouts;
  layouts.c = layout_of(problem.c, coordinates);
  layouts.a = product ? layout_of(problem.a, coordinates) : layouts.c;
  layouts.b = product ? layout_of(problem.b, coordinates) : layouts.c;
  if (!layouts.a || !layouts.b || !layouts.c) return not_ours(routine, call, problem, layouts);
  const auto ours = [&] {
    if (product) return multiply(call, problem, layouts, grid);
    // The local part of C is all that is needed where alpha or k is 0.
    scale(*call.beta, view_of(problem.c, coordinates, *layouts.c, call.c, dtype_of<T>()));
  };
  compute_or_hand_on(ours, [&] { return hand_on(routine, call); });
}

/// A product whose faster way is found out by trying. There is a next routine.
template <class T>
void take_turn(const Routine& routine, const GemmCall<T>& call, const Problem& problem, Grid& grid,
               Trial& trial) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  if (trial.way() == Way::ours) {
    compute(routine, call, problem, true, grid);
  } else {
    hand_on(routine, call);
  }
  if (trial.decided()) return;
  const std::chrono::nanoseconds spent = Clock::now() - begin;
  if (trial.finish(spent.count())) trial.decide(grid.gather(trial.times()));
}

template <class T>
void checked_gemm(const Routine& routine, const GemmCall<T>& call) {
  const Problem problem = problem_of(call);
  const int context = problem.a.descriptor.context;
  const Coordinates coordinates = Coordinates::of(context);
  const int wrong = wrong_argument(call, problem, coordinates);
  if (wrong != 0) return report_pblas_argument(context, routine.name, wrong);
  if (*call.m == 0 || *call.n == 0 || !coordinates.inside()) return;
  const bool product = *call.alpha != T(0) && *call.k != 0;
  if (!product && *call.beta == T(1)) return;
  Grid& grid = Grid::of(context, coordinates);
  if (product) {
    const double size = size_of_share(call, grid);
    const CallKey key = key_of(call, problem);
    if (is_tried_product(size) && next_symbol(routine.symbol) != nullptr)
      return take_turn(routine, call, problem, grid, grid.product_trials().of(key.value()));
    // Too small for Partita's signals and plans?
    if (!grid.seen_calls().worth(size, product_threshold, key) && hand_on(routine, call)) return;
  }
  compute(routine, call, problem, product, grid);
}

/// Collective over the grid, blocking.
template <class T>
void gemm(const Routine& routine, const GemmCall<T>& call) noexcept {
  run(call.desca[1], routine, [&] { checked_gemm(routine, call); });
}

}  // namespace
}  // namespace partita::scalapack

// The lengths that Fortran adds for characters come last and are not looked at.
// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_GEMM(letter, LETTER, T)                                                                     \
  extern "C" PARTITA_API void p##letter##gemm_(                                                             \
      const char* transa, const char* transb, const int* m, const int* n, const int* k, const T* alpha,     \
      const T* a, const int* ia, const int* ja, const int* desca, const T* b, const int* ib, const int* jb, \
      const int* descb, const T* beta, T* c, const int* ic, const int* jc, const int* descc) {              \
    partita::scalapack::gemm<T>(                                                                            \
        {"P" #LETTER "GEMM", "p" #letter "gemm_"},                                                          \
        {transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc, descc});      \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_EACH_DTYPE(PARTITA_GEMM)
