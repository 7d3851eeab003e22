// Factorizations and solves in f64, one thread per rank. Bound ("lapack_threads"): LAPACK with a thread per
// core, in a separate process while our ranks sleep. Peer: ScaLAPACK on the same ranks with the same BLAS,
// in blocks of 64, on the faster of two grids. "native": in the library's own distribution and in place, as
// the peers; "slabs": from rows, which are kept.
#include <algorithm>
#include <cmath>
#include <memory>
#include <partita/linalg.hpp>

#include "benchmarks/apart.hpp"
#include "benchmarks/benchmark.hpp"
#include "benchmarks/cuda_linalg.hpp"
#include "benchmarks/linalg_matrices.hpp"
#include "benchmarks/scalapack_factors.hpp"

namespace partita::benchmarks {
namespace {

struct Problem {
  Factorization kind = Factorization::lu;
  int n = 0;
  int sides = 0;   ///< 0: the factorization is measured, otherwise a solve
  int rounds = 1;  ///< times the runs asked for: the short ones that another program interrupts stay few

  std::string kind_name() const {
    return kind == Factorization::lu ? "lu" : kind == Factorization::qr ? "qr" : "cholesky";
  }
  std::string name() const {
    const std::string solve = sides > 0 ? "-solve-" + std::to_string(sides) : "";
    return kind_name() + solve + "-" + std::to_string(n);
  }
};

Array make_matrix(const Context& context, const Problem& problem, const Layout& layout, Order order) {
  Array a = empty(context, layout, Dtype::f64, {.order = order});
  fill(a, [&](const Index& i) { return factorized_element(problem.kind, i[0], i[1], problem.n); });
  return a;
}

Array make_right_sides(const Context& context, const Problem& problem, const Distribution& distribution,
                       Order order) {
  Array b =
      empty(context, {problem.n, std::max(1, problem.sides)}, distribution, Dtype::f64, {.order = order});
  fill(b, 1.0);
  return b;
}

/// The distribution in which the library computes.
Layout native_layout(const Context& context, const Problem& problem) {
  const Operand any = Operand::of(Layout(Slab(0), {problem.n, problem.n}, context.size()), Dtype::f64);
  const Plan plan = plan_factorization(problem.kind, any, context.topology(), context.rank());
  return plan.buffers[1].operand->layout;
}

template <class Factors>
class Ours {
 public:
  Ours(const Context& context, const Problem& problem, bool native)
      : native_(native),
        given_(make_matrix(context, problem,
                           native ? native_layout(context, problem)
                                  : Layout(Slab(0), {problem.n, problem.n}, context.size()),
                           native ? Order::column_major : Order::row_major)),
        a_(clone(given_, {.order = native ? Order::column_major : Order::row_major})),
        b_(make_right_sides(context, problem, Slab(0), Order::row_major)),
        x_(clone(b_)),
        factors_(a_, {.overwrite = native}) {}

  Contender contender(const Problem& problem) {
    if (problem.sides > 0) return {"ours", [this] { factors_.solve_into(b_, x_); }};
    return {"ours", [this] { factors_.factorize(a_); }, [this] { restore(); }};
  }
  void check(const std::string& name) {
    factors_.solve_into(b_, x_);
    check_solution(given_, x_, b_, name);
  }

 private:
  void restore() {
    if (native_) copy(given_, a_);
  }

  bool native_;
  Array given_, a_, b_, x_;
  Factors factors_;
};

class Peer {
 public:
  Peer(const Context& context, const Problem& problem, int rows, int columns)
      : problem_(problem),
        library_(make_scalapack_factors(
            context, {problem.kind, problem.n, problem.sides, block_of_scalapack, rows, columns})) {
    if (!library_) return;
    const BlockCyclic blocks({rows, columns}, {block_of_scalapack, block_of_scalapack});
    given_ = make_matrix(context, problem, Layout(blocks, {problem.n, problem.n}, context.size()),
                         Order::column_major);
    a_ = clone(given_, {.order = Order::column_major});
    if (problem.sides == 0) return;
    b_ = make_right_sides(context, problem, blocks, Order::column_major);
    library_->factorize(a_.data<double>());
  }

  bool is_here() const { return library_ != nullptr; }
  Contender contender() {
    if (problem_.sides > 0) return {"scalapack", [this] { solve(); }, [this] { fill(b_, 1.0); }};
    return {"scalapack", [this] { library_->factorize(a_.data<double>()); }, [this] { copy(given_, a_); }};
  }

  void check(const std::string& name) {
    if (problem_.sides == 0) return;
    fill(b_, 1.0);
    const Array given = clone(b_);
    solve();
    check_solution(given_, b_, given, name + ", scalapack");
  }

 private:
  void solve() { library_->solve(a_.data<double>(), b_.data<double>()); }

  Problem problem_;
  std::unique_ptr<ScalapackFactors> library_;
  Array given_, a_, b_;
};

/// Nearly square, and one row.
std::vector<std::unique_ptr<Peer>> make_peers(const Context& context, const Problem& problem) {
  int rows = static_cast<int>(std::sqrt(context.size()));
  while (context.size() % rows != 0) --rows;
  std::vector<std::unique_ptr<Peer>> peers;
  peers.push_back(std::make_unique<Peer>(context, problem, rows, context.size() / rows));
  if (rows > 1) peers.push_back(std::make_unique<Peer>(context, problem, 1, context.size()));
  if (!peers.front()->is_here()) peers.clear();
  return peers;
}

template <class Factors>
Result run(const Context& context, const Options& options, const Problem& problem, const std::string& name,
           bool native) {
  Ours<Factors> ours(context, problem, native);
  const auto peers = make_peers(context, problem);
  std::optional<Apart> apart;
  if (context.rank() == 0)
    apart.emplace(apart_command("lapack:" + problem.kind_name() + ":" + std::to_string(problem.n) + ":" +
                                std::to_string(problem.sides)));
  std::vector<Contender> contenders{ours.contender(problem),
                                    {"lapack_threads", {}, {}, [&] { return apart->work(); }}};
  for (const auto& peer : peers) contenders.push_back(peer->contender());
  const std::vector<double> seconds = measure(context, contenders, options.runs * problem.rounds);
  ours.check(name);
  for (const auto& peer : peers) peer->check(name);
  Result result{"linalg",   name, context.size(),   std::int64_t{problem.n} * problem.n * 8,
                seconds[0], {},   "lapack_threads", seconds[1]};
  if (!peers.empty()) result.peers["scalapack"] = *std::min_element(seconds.begin() + 2, seconds.end());
  return result;
}

std::optional<Result> run_kind(const Context& context, const Options& options, const Problem& problem,
                               const std::string& name, bool native) {
  switch (problem.kind) {
    case Factorization::cholesky:
      return run<Cholesky>(context, options, problem, name, native);
    case Factorization::lu:
      return run<Lu>(context, options, problem, name, native);
    default:
      return run<Qr>(context, options, problem, name, native);
  }
}

}  // namespace

std::vector<Case> linalg_cases() {
  std::vector<Case> cases;
  const auto add = [&](const Problem& problem, bool native) {
    const std::string name = problem.name() + (native ? "/native" : "/slabs");
    cases.push_back({"linalg", name, {2, 4}, [=](const Context& context, const Options& options) {
                       return run_kind(context, options, problem, name, native);
                     }});
  };
  for (const Factorization kind : {Factorization::lu, Factorization::cholesky, Factorization::qr}) {
    for (const int n : {256, 512, 2048, 4096}) {
      const int rounds = n < 1024 ? 5 : 1;
      add({kind, n, 0, rounds}, true);
      if (n == 512 || n == 4096) add({kind, n, 0, rounds}, false);
      if (kind == Factorization::qr || n == 512) continue;
      for (const int sides : {1, 64}) add({kind, n, sides, 5}, true);
    }
  }
  for (Case& one : cuda_linalg_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace partita::benchmarks
