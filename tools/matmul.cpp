// partita matmul: D = F(alpha op(A) op(B) + beta C) of .npy files, read, multiplied and written by all ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <partita/io.hpp>

#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/matmul_options.hpp"
#include "tools/progress.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace matmul_command {

const std::vector<std::string> phases{"read", "plan", "multiply", "write"};

struct Options {
  std::string a, b, output, operations = "nn", alpha = "1", beta, c;
  std::string epilogue = "none", bias, auxiliary, gradient;
  std::string distribution, distribution_a, distribution_b, method = "automatic", dtype, order;
  double memory_limit = 0;  // MiB
  bool explain = false;
  int ranks = std::min(4, usable_cores());
};

bool transposes(Op op) {
  return op == Op::transpose || op == Op::conjugate_transpose;
}

/// The shapes of D, of a bias and of a gradient.
struct Shapes {
  Shape d;
  std::int64_t k = 0;
  std::int64_t gradient = 0;
};

Shapes shapes_of(const Options& options, const Shape& a, const Shape& b, const MatmulOptions& how) {
  for (const auto& [path, shape] : {std::pair(&options.a, &a), std::pair(&options.b, &b)}) {
    if (shape->size() < 2)
      throw ArgumentError(fmt::format("{}: {} is no matrix", *path, partita::to_string(*shape)));
  }
  const int rows = a.size() - 2, columns = b.size() - 2;
  Shapes shapes;
  shapes.d = a.size() >= b.size() ? a : b;  // for its batches
  const std::int64_t m = a[rows + (transposes(how.op_a) ? 1 : 0)];
  const std::int64_t n = b[columns + (transposes(how.op_b) ? 0 : 1)];
  shapes.d[shapes.d.size() - 2] = m;
  shapes.d[shapes.d.size() - 1] = n;
  shapes.k = a[rows + (transposes(how.op_a) ? 0 : 1)];
  shapes.gradient = needs_of(how.epilogue).gradient_of_b ? n : m;
  return shapes;
}

// What does not need the files is found out before any rank starts.
MatmulOptions prepare(const Options& options) {
  MatmulOptions how;
  std::tie(how.op_a, how.op_b) = parse_operations(options.operations);
  how.alpha = parse_number(options.alpha, "--alpha");
  if (!options.beta.empty() && options.c.empty()) throw UsageError("--beta is for C: name it with --c");
  if (!options.c.empty()) how.beta = options.beta.empty() ? 1.0 : parse_number(options.beta, "--beta");
  how.epilogue = parse_epilogue(options.epilogue);
  how.method = parse_matmul_method(options.method);
  if (!options.distribution.empty()) how.distribution = Distribution::parse(options.distribution);
  if (!options.dtype.empty()) how.result = parse_dtype(options.dtype);
  how.order = options.order == "f" ? Order::column_major : Order::row_major;
  how.memory_limit = static_cast<std::int64_t>(options.memory_limit * 1048576);
  const EpilogueNeeds needs = needs_of(how.epilogue);
  const auto demand = [&](bool needed, const std::string& given, const char* option) {
    if (needed == given.empty())
      throw UsageError(
          fmt::format("--epilogue {} {} {}", options.epilogue, needed ? "needs" : "has no use for", option));
  };
  demand(needs.bias, options.bias, "--bias");
  demand(needs.auxiliary_in || needs.auxiliary_out, options.auxiliary, "--auxiliary");
  demand(needs.gradient, options.gradient, "--gradient");
  return how;
}

// An array as its file lies: in slabs along its slowest dimension, in its own order, if nothing is asked for.
Array read(const Context& context, const std::string& path, const std::string& distribution) {
  const FileHeader header = inspect_npy(path);
  ArrayOptions how;
  how.order = header.order;
  if (!distribution.empty()) return read_npy(context, path, Distribution::parse(distribution), how);
  if (header.shape.empty()) return read_npy(context, path, Replicated{}, how);
  return read_npy(context, path, Slab(header.order == Order::row_major ? 0 : header.shape.size() - 1), how);
}

/// All arrays of a multiply, bound to its plan.
struct Job {
  Array a, b, d;
  std::optional<Array> c, bias, auxiliary, gradient;
  std::optional<Matmul> plan;

  MatmulOperands operands() const {
    const auto operand = [](const std::optional<Array>& array) {
      return array ? std::optional<Operand>(array->operand()) : std::nullopt;
    };
    return {a.operand(),   b.operand(),        operand(c),       d.operand(),
            operand(bias), operand(auxiliary), operand(gradient)};
  }
};

Job read_all(const Context& context, const Options& options, const MatmulOptions& how) {
  Job job;
  job.a = read(context, options.a, options.distribution_a);
  job.b = read(context, options.b, options.distribution_b);
  if (!options.c.empty()) job.c = read(context, options.c, options.distribution);
  if (!options.bias.empty()) job.bias = read(context, options.bias, "replicated");
  if (needs_of(how.epilogue).auxiliary_in)
    job.auxiliary = read(context, options.auxiliary, options.distribution);
  return job;
}

Layout layout_of_result(const Context& context, const Job& job, const MatmulOptions& how,
                        const Shape& shape) {
  if (how.distribution) return Layout(*how.distribution, shape, context.size());
  if (job.c) return job.c->layout();
  return cheapest_result(job.a.operand(), job.b.operand(), context.topology(), how, context.machine());
}

void plan(const Context& context, Job& job, const MatmulOptions& how, const Shapes& shapes) {
  const Layout layout = layout_of_result(context, job, how, shapes.d);
  const Dtype dtype = how.result.value_or(job.a.dtype());
  const ArrayOptions on_heap{Residency::heap, how.order};
  job.d = empty(context, layout, dtype, on_heap);
  const EpilogueNeeds needs = needs_of(how.epilogue);
  if (needs.auxiliary_out) job.auxiliary = empty(context, layout, dtype, on_heap);
  if (needs.gradient) job.gradient = empty(context, {shapes.gradient}, Slab(0), dtype);
  job.plan.emplace(context, job.operands(), how);
  const auto address = [](auto& array) { return array ? &*array : nullptr; };
  job.plan->reset(job.a, job.b, address(job.c), job.d,
                  {address(job.bias), address(job.auxiliary), address(job.gradient)});
}

void write_all(const Options& options, const Job& job, const EpilogueNeeds& needs) {
  write_npy(
      options.output, job.d,
      job.d.local().strides == dense_strides(job.d.local_shape()) ? Order::row_major : Order::column_major);
  if (needs.auxiliary_out) write_npy(options.auxiliary, *job.auxiliary);
  if (needs.gradient) write_npy(options.gradient, *job.gradient);
}

void report(const Options& options, const Job& job, const Context& context, const Shapes& shapes,
            const std::vector<double>& seconds) {
  const std::string distribution = job.d.layout().distribution().to_string();
  fmt::print("{} x {} -> {}: {} {} with k = {}, by {} into {} on {} rank{}\n", options.a, options.b,
             options.output, to_string(shapes.d), name(job.d.dtype()), shapes.k, job.plan->plan().method,
             distribution, context.size(), context.size() == 1 ? "" : "s");
  const double flops = static_cast<double>(volume(shapes.d)) * static_cast<double>(shapes.k) *
                       (is_complex(job.a.dtype()) ? 8 : 2);
  double total = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool multiplies = phases[i] == "multiply" && seconds[i] > 0;
    const std::string rate = multiplies ? fmt::format("  {:>6.1f} GF/s", flops / seconds[i] / 1e9) : "";
    fmt::print("  {:<10}{:>9}{}\n", phases[i], describe_seconds(seconds[i]), rate);
    total += seconds[i];
  }
  fmt::print("  {:<10}{:>9}\n", "in all", describe_seconds(total));
}

void multiply_on(Context& context, const Options& options, const MatmulOptions& how) {
  const bool speaks = context.rank() == 0;
  Progress progress(phases, speaks);
  Job job = read_all(context, options, how);
  const Shapes shapes = shapes_of(options, job.a.shape(), job.b.shape(), how);
  progress.next();
  plan(context, job, how, shapes);
  progress.next();
  job.plan->execute();
  progress.next();
  write_all(options, job, needs_of(how.epilogue));
  context.barrier();
  progress.done();
  if (!speaks) return;
  if (options.explain) fmt::print("{}", job.plan->explain());
  report(options, job, context, shapes, progress.seconds());
}

void add_arrays(CLI::App& command, Options& options) {
  command
      .add_option("A", options.a, "left operand, .npy of two dimensions or more (the leading ones: batches)")
      ->required();
  command.add_option("B", options.b, "right operand")->required();
  command.add_option("-o,--output", options.output, "D, .npy; it lands whole or not at all")
      ->required()
      ->type_name("D.npy");
  command.add_option("--op", options.operations, "of A and of B: n, t, c (conjugate transpose), j (nn)")
      ->type_name("nn|nt|...");
  command.add_option("--alpha", options.alpha, "factor of the product (1)")->type_name("X[,IMAGINARY]");
  command.add_option("--c", options.c, "what beta times is added")->type_name("C.npy");
  command.add_option("--beta", options.beta, "factor of C (1)")->type_name("X[,IMAGINARY]");
}

void add_epilogue(CLI::App& command, Options& options) {
  command.add_option("--epilogue", options.epilogue, "what follows: relu, gelu-bias, drelu, ... (none)")
      ->check(CLI::IsMember(epilogue_names()).description(""))
      ->type_name("NAME");
  command.add_option("--bias", options.bias, "its bias: one number a row of D")->type_name("FILE");
  command.add_option("--auxiliary", options.auxiliary, "values before the activation: written by ...-aux")
      ->type_name("FILE");
  command.add_option("--gradient", options.gradient, "bias gradient, written")->type_name("FILE");
}

void add_ways(CLI::App& command, Options& options) {
  command.add_option("-d,--distribution", options.distribution, "of D (C's, or what costs least)")
      ->type_name("slab:0");
  command.add_option("--distribution-a", options.distribution_a, "of A (slabs of its file)")
      ->type_name("slab:1");
  command.add_option("--distribution-b", options.distribution_b, "of B (slabs of its file)")
      ->type_name("slab:0");
  command.add_option("--method", options.method, "the algorithm (the cheapest by the cost model)")
      ->check(CLI::IsMember(matmul_method_names()).description(""))
      ->type_name("NAME");
  command.add_option("--memory-limit", options.memory_limit, "the most scratch that a rank may use, in MiB")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("MIB");
  command.add_option("--dtype", options.dtype, "of D (that of A and B)")->type_name("DTYPE");
  command.add_option("--order", options.order, "order of the elements of D (c)")
      ->check(CLI::IsMember({"c", "f"}).description(""))
      ->type_name("c|f");
  command.add_flag("--explain", options.explain, "print the plan too");
  command.add_option("-n,--ranks", options.ranks, "ranks to start (up to 4, one a core)")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N");
}

void add_matmul(CLI::App& app) {
  auto* const command = app.add_subcommand("matmul", "multiply matrices in .npy files, on all ranks");
  const auto options = std::make_shared<Options>();
  add_arrays(*command, *options);
  add_epilogue(*command, *options);
  add_ways(*command, *options);
  command->footer(examples(
      "partita matmul a.npy b.npy -o d.npy -n 4 --explain\n"
      "partita matmul x.npy x.npy -o gram.npy --op nt --distribution block-cyclic:2x2:128x128 -n 4\n"
      "partita matmul w.npy x.npy -o y.npy --epilogue gelu-bias --bias bias.npy --method all-gather"));
  command->callback([options] {
    const MatmulOptions how = prepare(*options);
    on_ranks(options->ranks, [&](Context& context) { multiply_on(context, *options, how); });
  });
}

const Register registered("matmul", add_matmul);

}  // namespace matmul_command
}  // namespace partita::tools
