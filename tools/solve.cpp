// partita solve: X with op(A) X = B of .npy and HDF5 files, read, factorized, solved and written by all
// ranks.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/elementwise.hpp>
#include <partita/linalg.hpp>
#include <variant>

#include "tools/array_file.hpp"
#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/progress.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::solve_command {

struct Options {
  std::string a, b, output, dataset = "data";
  std::optional<Distribution> distribution_a, distribution_b;
  Factorization method = Factorization::lu;
  FactorOptions factors;
  SolveOptions how;
  std::optional<Dtype> dtype;
  bool refine = false;
  bool explain = false;
  bool on_gpu = false;
  int ranks = usual_ranks();
};

using Factors = std::variant<Cholesky, Lu, Qr>;

/// A, B, X, and the factors of A; none if A has more columns than rows, when `lstsq` factorizes and solves,
/// or if `solve_refined` does.
struct Job {
  Array a, b, x;
  std::optional<Factors> factors;
  std::optional<Refinement> refinement;
};

ArrayFile file_of(const Options& options, const std::string& word) {
  return array_file(word, options.dataset);
}

// What does not need the files is found out before any rank starts.
void check(const Options& options) {
  for (const std::string* const word : {&options.a, &options.b, &options.output})
    (void)file_of(options, *word);
  check_order(file_of(options, options.output), options.how.order, "omit --order");
  if (options.refine && (options.method == Factorization::qr || options.explain))
    throw UsageError("--refine excludes --method qr and --explain");
}

Array read_operand(const Context& context, const Options& options, const std::string& word,
                   const std::optional<Distribution>& distribution) {
  Array array = read_as_stored(context, file_of(options, word), distribution);
  return options.dtype && *options.dtype != array.dtype() ? astype(array, *options.dtype) : array;
}

/// A least-norm solution.
bool is_wide(const Options& options, const Array& a) {
  return options.method == Factorization::qr && options.how.op == Op::none && a.shape().size() == 2 &&
         a.shape()[0] < a.shape()[1];
}

Factors factorize(const Options& options, const Array& a) {
  switch (options.method) {
    case Factorization::cholesky:
      return Cholesky(a, options.factors);
    case Factorization::lu:
      return Lu(a, options.factors);
    default:
      return Qr(a, options.factors);
  }
}

Array solve_with_refinement(const Options& options, Job& job) {
  RefineOptions how;
  static_cast<SolveOptions&>(how) = options.how;
  how.method = options.method;
  RefinedSolution found = solve_refined(job.a, job.b, how);
  job.refinement = found.refinement;
  return found.x;
}

Array solve(const Options& options, Job& job) {
  if (options.refine) return solve_with_refinement(options, job);
  if (!job.factors) return lstsq(job.a, job.b, options.how);
  return std::visit([&](const auto& factors) { return factors.solve(job.b, options.how); }, *job.factors);
}

/// How far X is from a solution, as a multiple of what rounding explains: of order 1, or less.
struct Residual {
  double ratio = 0;
  const char* formula = "";
};

Residual residual_of(const Options& options, const Job& job) {
  const Op op = options.how.op;
  const auto norm_of = [](const Array& array) { return norm<double>(array); };
  const auto product = [&](Op op_a, const Array& x, const Distribution& distribution) {
    return matmul(job.a, x, {.op_a = op_a, .distribution = distribution});
  };
  const Array rest = product(op, job.x, job.b.layout().distribution()) - job.b;
  const std::int64_t rows = job.a.shape()[0], columns = job.a.shape()[1];
  const bool is_single = job.a.dtype() == Dtype::f32 || job.a.dtype() == Dtype::c64;
  const double epsilon = is_single ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                   : std::numeric_limits<double>::epsilon();
  const double rounding = epsilon * static_cast<double>(std::max(rows, columns)) * norm_of(job.a);
  const auto over = [&](double size, const Array& scale) {
    const double allowed = rounding * norm_of(scale);
    return size == 0 ? 0.0 : size / allowed;
  };
  if (transposes(op) || rows <= columns)
    return {over(norm_of(rest), job.x), "|op(A) X - B| / (|A| |X| n eps)"};
  const Array gradient = product(Op::conjugate_transpose, rest, job.x.layout().distribution());
  return {over(norm_of(gradient), job.b), "|A^H (A X - B)| / (|A| |B| n eps)"};
}

double operations_of(const Options& options, const Array& a) {
  FactorPanel whole;
  whole.kind = options.method;
  whole.panel.region = {{IndexSet::range(0, a.shape()[0]), IndexSet::range(0, a.shape()[1])}};
  return flops(whole, is_complex(a.dtype()));
}

void report(const Options& options, const Job& job, const Context& context, const Residual& residual,
            const Progress& progress) {
  fmt::print("{} \\ {} -> {}: {} {} by {} of {} into {} on {}\n", options.a, options.b, options.output,
             to_string(job.x.shape()), name(job.x.dtype()), factorizations.of(options.method),
             to_string(job.a.shape()), job.x.layout().distribution().to_string(),
             count_of(context.size(), "rank"));
  const double count = operations_of(options, job.a);
  const auto rate = [&](const std::string& phase, double seconds) {
    return phase == "factorize" && seconds > 0 ? fmt::format("{:.1f} GF/s", count / seconds / 1e9) : "";
  };
  progress.print(rate, job.factors ? "" : "factorize");
  fmt::print("  residual  {:>9.3g}  {}\n", residual.ratio, residual.formula);
  if (!job.refinement) return;
  fmt::print("  refined   {:>9}  corrections, to a backward error of {:.2g}\n", job.refinement->iterations,
             job.refinement->backward_error);
  if (job.refinement->fell_back)
    fmt::print("  factorized again in {}: {}\n", name(job.a.dtype()), job.refinement->reason);
}

void solve_on(Context& context, const Options& options) {
  const bool speaks = context.rank() == 0;
  Progress progress({"read", "factorize", "solve", "check", "write"}, speaks);
  Job job;
  job.a = read_operand(context, options, options.a, options.distribution_a);
  job.b = read_operand(context, options, options.b, options.distribution_b);
  progress.next();
  if (!options.refine && !is_wide(options, job.a)) job.factors.emplace(factorize(options, job.a));
  progress.next();
  job.x = solve(options, job);
  progress.next();
  const Residual residual = residual_of(options, job);
  progress.next();
  write(file_of(options, options.output), job.x, options.how.order);
  context.barrier();
  progress.done();
  if (!speaks) return;
  if (options.explain && job.factors)
    fmt::print("{}", std::visit([](const auto& factors) { return factors.explain(); }, *job.factors));
  report(options, job, context, residual, progress);
}

void run(const Options& options) {
  check(options);
  ContextOptions where;
  where.device = options.on_gpu ? usable_gpu() : Device::cpu();
  on_ranks(
      options.ranks, [&](Context& context) { solve_on(context, options); }, where);
}

void describe(Subcommand& command, Options& options) {
  command.word("A", options.a, "the matrix, .npy, .h5 or .h5:DATASET, of f32, f64, c64 or c128").required();
  command.word("B", options.b, "right-hand side: a vector, or a column for each").required();
  command.word("-o,--output", options.output, "X, .npy or HDF5; written completely or not at all", "X")
      .required();
  command.word("--dataset", options.dataset, "dataset of HDF5 files given without one (data)", "NAME");
  command.choice("--method", options.method, factorizations,
                 "lu; cholesky: A is Hermitian positive definite; qr: also least squares, of any shape (lu)");
  command.choice("--op", options.how.op, op_letters, "op of A: n, t, c (conjugate transpose), j (n)",
                 "n|t|c|j");
  command.distribution("-d,--distribution", options.how.distribution, "distribution of X (that of B)",
                       "slab:0");
  command.distribution("--distribution-a", options.distribution_a, "distribution of A (slabs of its file)",
                       "slab:1");
  command.distribution("--distribution-b", options.distribution_b, "distribution of B (slabs of its file)",
                       "slab:0");
  command.factorization(options.factors);
  command.dtype(options.dtype, "dtype to compute in, to which A and B are converted (theirs)");
  command.order(options.how.order, "order of the elements of X (c)");
  command.device(options.on_gpu, "device to compute on (cpu)");
  command.flag("--refine", options.refine,
               "factorize in lower precision, and correct X to the precision of A; with lu and cholesky");
  command.flag("--explain", options.explain, "also print the plan of the factorization");
  command.ranks(options.ranks);
  command.footer(
      examples("partita solve a.npy b.npy -o x.npy -n 4 --explain\n"
               "partita solve covariance.npy y.npy -o weights.npy --method cholesky\n"
               "partita solve a.npy b.npy -o x.npy --refine\n"
               "partita solve observations.npy y.npy -o fit.npy --method qr\n"
               "partita solve a.npy b.npy -o x.npy --op t --device cuda -n 4"));
}

const Register registered("solve",
                          "solve linear systems and least squares in .npy and HDF5 files, on all ranks",
                          describe, run);

}  // namespace partita::tools::solve_command
