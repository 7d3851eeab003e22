// Eigenvalues and eigenvectors of a symmetric matrix in f64, given by rows. Bound ("lapack_threads"):
// LAPACK's dsyevd with a thread per core, in a separate process while our ranks sleep. Peer: ScaLAPACK's
// pdsyevd on the same ranks with the same BLAS, in blocks of 64 on a nearly square grid.
#include <cmath>
#include <partita/array_reductions.hpp>
#include <partita/eigen.hpp>
#include <partita/elementwise.hpp>
#include <partita/error.hpp>
#include <partita/matmul.hpp>

#include "benchmarks/apart.hpp"
#include "benchmarks/benchmark.hpp"
#include "benchmarks/linalg_matrices.hpp"
#include "benchmarks/scalapack_eigen.hpp"

namespace partita::benchmarks {
namespace {

Array make_symmetric(const Context& context, int n, const Distribution& distribution, Order order) {
  Array a = empty(context, {n, n}, distribution, Dtype::f64, {.order = order});
  fill(a, [n](const Index& i) { return symmetric_element(i[0], i[1], n); });
  return a;
}

/// Throws Error unless A V = V diag(values) up to rounding. Collective.
void check_pairs(const Array& a, const Array& values, const Array& vectors, const std::string& name) {
  const Array scaled = redistribute(vectors, Slab(0)) * values;
  const Array rest = matmul(a, vectors, {.distribution = Slab(0)}) - scaled;
  if (!(norm<double>(rest) <= 1e-15 * static_cast<double>(a.shape()[0]) * norm<double>(a)))
    throw Error(name + ": the result is wrong");
}

class EigenPeer {
 public:
  EigenPeer(const Context& context, int n) {
    int rows = static_cast<int>(std::sqrt(context.size()));
    while (context.size() % rows != 0) --rows;
    const EigenProblem problem{n, block_of_scalapack, rows, context.size() / rows};
    const BlockCyclic blocks({problem.grid_rows, problem.grid_columns},
                             {block_of_scalapack, block_of_scalapack});
    given_ = make_symmetric(context, n, blocks, Order::column_major);
    a_ = clone(given_, {.order = Order::column_major});
    vectors_ = clone(given_, {.order = Order::column_major});
    values_ = empty(context, {n}, Replicated(), Dtype::f64);
    run_ = make_pdsyevd(context, problem, a_.data<double>(), values_.data<double>(), vectors_.data<double>());
  }

  bool is_here() const { return run_ != nullptr; }
  Contender contender() {
    return {"scalapack", [this] { run_(); }, [this] { copy(given_, a_); }};
  }
  void check(const std::string& name) const { check_pairs(given_, values_, vectors_, name + ", scalapack"); }

 private:
  Array given_, a_, vectors_, values_;
  std::function<void()> run_;
};

Result run_eigen(const Context& context, const Options& options, int n, const std::string& name) {
  const Array a = make_symmetric(context, n, Slab(0), Order::row_major);
  EigenFactors found;
  EigenPeer peer(context, n);
  std::optional<Apart> apart;
  if (context.rank() == 0) apart.emplace(apart_command("lapack:eigh:" + std::to_string(n) + ":0"));
  std::vector<Contender> contenders{{"ours", [&] { found = eigh(a); }},
                                    {"lapack_threads", {}, {}, [&] { return apart->work(); }}};
  if (peer.is_here()) contenders.push_back(peer.contender());
  const std::vector<double> seconds = measure(context, contenders, options.runs);
  check_pairs(a, found.values, found.vectors, name);
  Result result{"linalg",   name, context.size(),   std::int64_t{n} * n * 8,
                seconds[0], {},   "lapack_threads", seconds[1]};
  if (!peer.is_here()) return result;
  peer.check(name);
  result.peers["scalapack"] = seconds[2];
  return result;
}

}  // namespace

std::vector<Case> eigen_cases() {
  std::vector<Case> cases;
  for (const int n : {500, 2000}) {
    const std::string name = "eigh-" + std::to_string(n) + "/slabs";
    cases.push_back({"linalg", name, {2, 4}, [=](const Context& context, const Options& options) {
                       return run_eigen(context, options, n, name);
                     }});
  }
  return cases;
}

}  // namespace partita::benchmarks
