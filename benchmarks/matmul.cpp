// D = A B in f64, one thread per rank. Bound ("no_comm"): the same ranks doing the same flops as one local
// product of the shape that a rank would have if nothing had to be communicated, on separate operands.
// Peers: ScaLAPACK's pdgemm on the same ranks, and OpenBLAS with a thread per core in a separate process.
#include <cmath>
#include <partita/matmul.hpp>

#include "benchmarks/apart.hpp"
#include "benchmarks/benchmark.hpp"
#include "benchmarks/cuda_matmul.hpp"
#include "benchmarks/openblas.hpp"
#include "benchmarks/pdgemm.hpp"

namespace partita::benchmarks {
namespace {

constexpr int block = 128;

struct Size {
  std::string name;
  int m = 0, n = 0, k = 0;
  int repeats = 1;  ///< in one timed run, so that short ones can be timed at all
  int rounds = 1;   ///< times the runs asked for: the short ones that another program interrupts stay few

  std::int64_t bytes() const {
    const std::int64_t elements = std::int64_t{m} * k + std::int64_t{k} * n + std::int64_t{m} * n;
    return elements * static_cast<std::int64_t>(sizeof(double));
  }
  bool is_long() const { return k > 16 * std::max(m, n); }
};

PdgemmProblem on_grid(const Size& size, int ranks) {
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  return {size.m, size.n, size.k, block, rows, ranks / rows};
}

/// A, B and D in one distribution each.
struct Arrays {
  Array a, b, d;
};

Arrays make_arrays(const Context& context, const Size& size, const Distribution& a, const Distribution& b,
                   const Distribution& d, const ArrayOptions& options) {
  Arrays arrays{empty(context, {size.m, size.k}, a, Dtype::f64, options),
                empty(context, {size.k, size.n}, b, Dtype::f64, options),
                empty(context, {size.m, size.n}, d, Dtype::f64, options)};
  fill_random(arrays.a, 1);
  fill_random(arrays.b, 2);
  fill(arrays.d, 0.0);  // touched before
  return arrays;
}

Arrays slabs(const Context& context, const Size& size) {
  return make_arrays(context, size, Slab(size.is_long() ? 1 : 0), Slab(0), Slab(0), {});
}

Arrays blocks(const Context& context, const PdgemmProblem& problem, const Size& size, Residency residency) {
  const BlockCyclic rule({problem.grid_rows, problem.grid_columns}, {problem.block, problem.block});
  return make_arrays(context, size, rule, rule, rule, {.residency = residency, .order = Order::column_major});
}

/// What a rank multiplies by itself.
struct Product {
  int m = 0, n = 0, k = 0;
};

/// Of slabs: its rows of D, or, where k is long, its part of k. Row-major: D' = B' A'.
Product ideal_of_slabs(const Size& size, int ranks) {
  return size.is_long() ? Product{size.n, size.m, size.k / ranks} : Product{size.n, size.m / ranks, size.k};
}

Product ideal_of_blocks(const PdgemmProblem& problem) {
  return {problem.m / problem.grid_rows, problem.n / problem.grid_columns, problem.k};
}

/// The bound: no rank reads what another rank wrote.
class NoCommunication {
 public:
  NoCommunication(const Context& context, const Product& product, Residency residency)
      : product_(product),
        a_(make(context, std::int64_t{product.m} * product.k, residency)),
        b_(make(context, std::int64_t{product.k} * product.n, residency)),
        d_(make(context, std::int64_t{product.m} * product.n, residency)) {}

  void run() const {
    openblas().multiply(product_.m, product_.n, product_.k, a_.data<double>(), b_.data<double>(),
                        d_.data<double>());
  }

 private:
  static Array make(const Context& context, std::int64_t elements, Residency residency) {
    Array array = empty(context, {elements * context.size()}, Slab(0), Dtype::f64,
                        ArrayOptions{.residency = residency});
    fill_random(array, 3);
    return array;
  }

  Product product_;
  Array a_, b_, d_;
};

/// The product by rank 0 alone, for where there is no peer to compare with.
Array serial_product(const Context& context, const Size& size, const Arrays& arrays) {
  const Array a = gather(arrays.a), b = gather(arrays.b);
  std::vector<double> d(context.rank() == 0 ? static_cast<std::size_t>(std::int64_t{size.m} * size.n) : 0);
  const bool row_major = arrays.a.operand().axis_order[0] == 0;
  const double* const first = row_major ? b.data<double>() : a.data<double>();
  const double* const second = row_major ? a.data<double>() : b.data<double>();
  const Order order = row_major ? Order::row_major : Order::column_major;
  if (context.rank() == 0)
    openblas().multiply(row_major ? size.n : size.m, row_major ? size.m : size.n, size.k, first, second,
                        d.data());
  return scatter(context, View::dense(d.data(), Dtype::f64, {size.m, size.n}, order), {size.m, size.n},
                 Slab(0));
}

/// A benchmark of wrong numbers is worth nothing. Operands are in [-1, 1).
void check_result(const Array& expected, const Array& d, const Size& size, const std::string& name) {
  const double difference = compare(expected, d).largest_difference;
  if (!(difference <= 1e-15 * size.k)) throw Error(name + ": the result is wrong");
}

Contender repeated(const std::string& name, int times, const std::function<void()>& run) {
  return {name, [=] {
            for (int i = 0; i < times; ++i) run();
          }};
}

/// Measures `ours`, which computes `arrays.d`, and the others.
Result compete(const Context& context, const Options& options, const std::string& name, const Size& size,
               const Arrays& arrays, const std::function<void()>& ours, const Product& ideal,
               Residency residency) {
  const NoCommunication bound(context, ideal, residency);
  const PdgemmProblem problem = on_grid(size, context.size());
  const std::unique_ptr<Pdgemm> scalapack = make_pdgemm(PdgemmLibrary::scalapack, context, problem);
  Arrays theirs;
  std::vector<Contender> contenders{repeated("ours", size.repeats, ours),
                                    repeated("no_comm", size.repeats, [&] { bound.run(); })};
  if (scalapack) {
    theirs = blocks(context, problem, size, residency);
    contenders.push_back(repeated("scalapack", size.repeats, [&] {
      scalapack->run(theirs.a.data<double>(), theirs.b.data<double>(), theirs.d.data<double>());
    }));
  }
  std::optional<Apart> apart;
  if (context.rank() == 0)
    apart.emplace(apart_command("openblas:" + std::to_string(size.m) + "x" + std::to_string(size.n) + "x" +
                                std::to_string(size.k)));
  contenders.push_back({"openblas_threads", {}, {}, [&] { return apart->work() * size.repeats; }});

  const std::vector<double> seconds = measure(context, contenders, options.runs * size.rounds);
  ours();
  check_result(scalapack ? theirs.d : serial_product(context, size, arrays), arrays.d, size, name);
  Result result{"matmul", name,      context.size(),           size.bytes(), seconds[0] / size.repeats,
                {},       "no_comm", seconds[1] / size.repeats};
  for (std::size_t i = 2; i < contenders.size(); ++i)
    result.peers[contenders[i].name] = seconds[i] / size.repeats;
  return result;
}

/// Slabs on the symmetric heap, by a plan that was made before.
std::optional<Result> run_native(const Context& context, const Options& options, const Size& size) {
  Arrays arrays = slabs(context, size);
  Matmul plan(context, {arrays.a.operand(), arrays.b.operand(), {}, arrays.d.operand()});
  plan.reset(arrays.a, arrays.b, nullptr, arrays.d);
  return compete(
      context, options, size.name + "/native", size, arrays, [&] { plan.execute(); },
      ideal_of_slabs(size, context.size()), Residency::heap);
}

/// Blocks in ordinary memory, through the drop-in library as a program of ScaLAPACK's calls it.
std::optional<Result> run_pdgemm(const Context& context, const Options& options, const Size& size) {
  const PdgemmProblem problem = on_grid(size, context.size());
  const std::unique_ptr<Pdgemm> drop_in = make_pdgemm(PdgemmLibrary::drop_in, context, problem);
  if (!drop_in) return std::nullopt;
  const Arrays arrays = blocks(context, problem, size, Residency::ordinary);
  const auto ours = [&] {
    drop_in->run(arrays.a.data<double>(), arrays.b.data<double>(), arrays.d.data<double>());
  };
  return compete(context, options, size.name + "/pdgemm", size, arrays, ours, ideal_of_blocks(problem),
                 Residency::ordinary);
}

/// A matrix in slabs times a vector that all ranks have. Bound ("gemv"): each rank multiplies its rows
/// itself.
std::optional<Result> run_vector(const Context& context, const Options& options, int n,
                                 const std::string& name) {
  const Array a = empty(context, {n, n}, Slab(0), Dtype::f64),
              x = empty(context, {n}, Replicated(), Dtype::f64);
  Array y = zeros(context, {n}, Slab(0), Dtype::f64), theirs = zeros(context, {n}, Slab(0), Dtype::f64);
  for (Array filled : {a, x}) fill_random(filled, 1);
  Matmul plan(context, {.a = a.operand(), .b = x.operand(), .d = y.operand()});
  plan.reset(a, x, nullptr, y);
  const auto rows = static_cast<int>(a.local_shape()[0]);
  constexpr int times = 4;
  const auto gemv = [&] {
    openblas().multiply(rows, n, a.data<double>(), x.data<double>(), theirs.data<double>());
  };
  const std::vector<Contender> contenders{repeated("ours", times, [&] { plan.execute(); }),
                                          repeated("gemv", times, gemv)};
  const std::vector<double> seconds = measure(context, contenders, options.runs);
  if (!(compare(theirs, y).largest_difference <= 1e-15 * n)) throw Error(name + ": the result is wrong");
  return Result{"matmul",           name, context.size(), std::int64_t{8} * n * n,
                seconds[0] / times, {},   "gemv",         seconds[1] / times};
}

}  // namespace

std::vector<Case> matmul_cases() {
  std::vector<Case> cases;
  const std::vector<Size> sizes{{"square-4096", 4096, 4096, 4096},
                                {"square-2048", 2048, 2048, 2048},
                                {"square-256", 256, 256, 256, 4, 5},
                                {"long-k", 512, 512, 65536}};
  for (const Size& size : sizes) {
    const auto add = [&](const char* variant, auto* run) {
      cases.push_back({"matmul", size.name + variant, {2, 4}, [=](const Context& context, const Options& o) {
                         return run(context, o, size);
                       }});
    };
    add("/native", run_native);
    add("/pdgemm", run_pdgemm);
  }
  for (const int n : {2048, 8192}) {
    const std::string name = "vector-" + std::to_string(n) + "/native";
    cases.push_back({"matmul", name, {1, 2, 4}, [=](const Context& context, const Options& o) {
                       return run_vector(context, o, n, name);
                     }});
  }
  for (Case& one : cuda_matmul_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace partita::benchmarks
