// partita matmul: D = F(alpha op(A) op(B) + beta C) of .npy and HDF5 files, read, multiplied and written by
// all ranks.
#include <fmt/format.h>

#include <charconv>
#include <partita/matmul.hpp>

#include "tools/array_file.hpp"
#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/progress.hpp"
#include "tools/question.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::matmul_command {

struct Options {
  std::string a, b, output, c, bias, auxiliary, gradient, dataset = "data";
  std::optional<std::complex<double>> beta;
  std::optional<Distribution> distribution_a, distribution_b;
  MatmulOptions how;
  double memory_limit = 0;  // MiB
  bool explain = false;
  bool on_gpu = false;
  int ranks = usual_ranks();
};

/// "1.5", or "1.5,-2" for 1.5 - 2i.
std::complex<double> parse_number(const std::string& text) {
  double parts[2] = {0, 0};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (double& part : parts) {
    const auto [rest, error] = std::from_chars(at, end, part);
    if (error != std::errc{}) break;
    if (rest == end) return {parts[0], parts[1]};
    if (*rest != ',') break;
    at = rest + 1;
  }
  throw UsageError(
      fmt::format("\"{}\" is not a number, nor a real and an imaginary part as in 1.5,-2", text));
}

/// The arrays that belong to an epilogue.
struct EpilogueNeeds {
  bool bias, auxiliary_out, auxiliary_in, gradient;

  explicit EpilogueNeeds(Epilogue epilogue) {
    const std::string& name = epilogues.of(epilogue);
    gradient = name.find("bias-gradient") != std::string::npos;
    bias = !gradient && name.find("bias") != std::string::npos;
    auxiliary_out = name.ends_with("-aux");
    auxiliary_in = name.starts_with("drelu") || name.starts_with("dgelu");
  }
};

/// The shapes of D, of a bias and of a gradient.
struct Shapes {
  Shape d;
  std::int64_t k = 0;
  std::int64_t gradient = 0;
};

/// A vector is a row on the left and a column on the right, and D does not have that dimension.
Shapes shapes_with_vectors(const Options& options, const Shape& a, const Shape& b) {
  const auto extent = [](const Shape& shape, bool turned, int from_end) {
    return shape[shape.size() - (turned ? 3 - from_end : from_end)];
  };
  const bool matrix_a = a.size() > 1, matrix_b = b.size() > 1;
  const std::int64_t m = matrix_a ? extent(a, transposes(options.how.op_a), 2) : 1;
  const std::int64_t n = matrix_b ? extent(b, transposes(options.how.op_b), 1) : 1;
  Shapes shapes;
  const Shape& batches = matrix_a ? a : b;
  for (int d = 0; d + 2 < batches.size(); ++d) shapes.d.push_back(batches[d]);
  if (matrix_a) shapes.d.push_back(m);
  if (matrix_b) shapes.d.push_back(n);
  shapes.k = matrix_a ? extent(a, transposes(options.how.op_a), 1) : a[0];
  shapes.gradient = options.how.epilogue == Epilogue::bias_gradient_b ? n : m;
  return shapes;
}

Shapes shapes_of(const Options& options, const Shape& a, const Shape& b) {
  for (const auto& [path, shape] : {std::pair(&options.a, &a), std::pair(&options.b, &b)}) {
    if (shape->empty())
      throw ArgumentError(fmt::format("{}: a scalar is neither a matrix nor a vector", *path));
  }
  if (a.size() == 1 || b.size() == 1) return shapes_with_vectors(options, a, b);
  const int rows = a.size() - 2, columns = b.size() - 2;
  const bool turned_a = transposes(options.how.op_a), turned_b = transposes(options.how.op_b);
  Shapes shapes;
  shapes.d = a.size() >= b.size() ? a : b;  // for its batches
  const std::int64_t m = a[rows + (turned_a ? 1 : 0)], n = b[columns + (turned_b ? 0 : 1)];
  shapes.d[shapes.d.size() - 2] = m;
  shapes.d[shapes.d.size() - 1] = n;
  shapes.k = a[rows + (turned_a ? 0 : 1)];
  shapes.gradient = options.how.epilogue == Epilogue::bias_gradient_b ? n : m;
  return shapes;
}

ArrayFile file_of(const Options& options, const std::string& word) {
  return array_file(word, options.dataset);
}

void check_files(const Options& options) {
  for (const std::string* const word : {&options.a, &options.b, &options.output, &options.c, &options.bias,
                                        &options.auxiliary, &options.gradient}) {
    if (!word->empty()) (void)file_of(options, *word);
  }
  check_order(file_of(options, options.output), options.how.order, "omit --order");
}

// What does not need the files is found out before any rank starts.
void check(const Options& options) {
  check_files(options);
  if (options.beta && options.c.empty()) throw UsageError("--beta is for C: name it with --c");
  const EpilogueNeeds needs(options.how.epilogue);
  const auto demand = [&](bool needed, const std::string& given, const char* option) {
    if (needed == given.empty())
      throw UsageError(fmt::format("--epilogue {} {} {}", epilogues.of(options.how.epilogue),
                                   needed ? "needs" : "does not use", option));
  };
  demand(needs.bias, options.bias, "--bias");
  demand(needs.auxiliary_in || needs.auxiliary_out, options.auxiliary, "--auxiliary");
  demand(needs.gradient, options.gradient, "--gradient");
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
    return {a.operand(),
            b.operand(),
            operand(c),
            d.operand(),
            {operand(bias), operand(auxiliary), operand(gradient)}};
  }
};

Job read_all(const Context& context, const Options& options) {
  const std::optional<Distribution>& as_d = options.how.distribution;
  const auto read_of = [&](const std::string& word, const std::optional<Distribution>& distribution) {
    return read_as_stored(context, file_of(options, word), distribution);
  };
  Job job;
  job.a = read_of(options.a, options.distribution_a);
  job.b = read_of(options.b, options.distribution_b);
  if (!options.c.empty()) job.c = read_of(options.c, as_d);
  if (!options.bias.empty()) job.bias = read_of(options.bias, Replicated());
  if (EpilogueNeeds(options.how.epilogue).auxiliary_in) job.auxiliary = read_of(options.auxiliary, as_d);
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
  const Dtype dtype = result_dtype(job.a.dtype(), how);
  const ArrayOptions on_heap{.order = how.order};
  job.d = empty(context, layout, dtype, on_heap);
  const EpilogueNeeds needs(how.epilogue);
  if (needs.auxiliary_out) job.auxiliary = empty(context, layout, dtype, on_heap);
  if (needs.gradient) job.gradient = empty(context, {shapes.gradient}, Slab(0), dtype);
  job.plan.emplace(context, job.operands(), how);
  const auto address = [](auto& array) { return array ? &*array : nullptr; };
  job.plan->reset(job.a, job.b, address(job.c), job.d,
                  {address(job.bias), address(job.auxiliary), address(job.gradient)});
}

void write_all(const Options& options, const Job& job, const EpilogueNeeds& needs) {
  write(file_of(options, options.output), job.d,
        job.d.local().strides == dense_strides(job.d.local_shape()) ? Order::row_major : Order::column_major);
  if (needs.auxiliary_out) write(file_of(options, options.auxiliary), *job.auxiliary);
  if (needs.gradient) write(file_of(options, options.gradient), *job.gradient);
}

void report(const Options& options, const Job& job, const Context& context, const Shapes& shapes,
            const Progress& progress) {
  fmt::print("{} x {} -> {}: {} {} with k = {}, by {} into {} on {}\n", options.a, options.b, options.output,
             to_string(shapes.d), name(job.d.dtype()), shapes.k, job.plan->plan().method,
             job.d.layout().distribution().to_string(), count_of(context.size(), "rank"));
  const double flops = static_cast<double>(volume(shapes.d)) * static_cast<double>(shapes.k) *
                       (is_complex(job.a.dtype()) ? 8 : 2);
  progress.print([&](const std::string& phase, double seconds) {
    return phase == "multiply" && seconds > 0 ? fmt::format("{:.1f} GF/s", flops / seconds / 1e9) : "";
  });
}

void multiply_on(Context& context, const Options& options, const MatmulOptions& how) {
  const bool speaks = context.rank() == 0;
  Progress progress({"read", "plan", "multiply", "write"}, speaks);
  Job job = read_all(context, options);
  const Shapes shapes = shapes_of(options, job.a.shape(), job.b.shape());
  progress.next();
  plan(context, job, how, shapes);
  progress.next();
  job.plan->execute();
  progress.next();
  write_all(options, job, EpilogueNeeds(how.epilogue));
  context.barrier();
  progress.done();
  if (!speaks) return;
  if (options.explain) fmt::print("{}", job.plan->explain());
  report(options, job, context, shapes, progress);
}

void multiply(const Options& options) {
  check(options);
  MatmulOptions how = options.how;
  if (!options.c.empty()) how.beta = options.beta.value_or(1.0);
  how.memory_limit = static_cast<std::int64_t>(options.memory_limit * 1048576);
  ContextOptions where;
  where.device = options.on_gpu ? usable_gpu() : Device::cpu();
  on_ranks(
      options.ranks, [&](Context& context) { multiply_on(context, options, how); }, where);
}

void describe_arrays(Subcommand& command, Options& options) {
  command
      .word("A", options.a,
            "left operand, .npy, .h5 or .h5:DATASET: a vector, or a matrix with batches before it")
      .required();
  command.word("B", options.b, "right operand").required();
  command.word("-o,--output", options.output, "D, .npy or HDF5; written completely or not at all", "D")
      .required();
  command.word("--dataset", options.dataset, "dataset of HDF5 files given without one (data)", "NAME");
  command.op(options.how, "op of A and of B: n, t, c (conjugate transpose), j (nn)");
  command.parsed("--alpha", options.how.alpha, parse_number, "factor of the product (1)", "X[,IMAGINARY]");
  command.word("--c", options.c, "array that is added, times beta", "C.npy");
  command.parsed("--beta", options.beta, parse_number, "factor of C (1)", "X[,IMAGINARY]");
  command.choice("--epilogue", options.how.epilogue, epilogues,
                 "epilogue: relu, gelu-bias, drelu, ... (none)");
  command.word("--bias", options.bias, "bias of the epilogue: one number per row of D", "FILE");
  command.word("--auxiliary", options.auxiliary, "values before the activation: written by ...-aux", "FILE");
  command.word("--gradient", options.gradient, "bias gradient, written", "FILE");
}

void describe(Subcommand& command, Options& options) {
  MatmulOptions& how = options.how;
  describe_arrays(command, options);
  command.distribution("-d,--distribution", how.distribution, "distribution of D (C's, or the cheapest)",
                       "slab:0");
  command.distribution("--distribution-a", options.distribution_a, "distribution of A (slabs of its file)",
                       "slab:1");
  command.distribution("--distribution-b", options.distribution_b, "distribution of B (slabs of its file)",
                       "slab:0");
  command.choice("--method", how.method, matmul_methods, "the algorithm (the cheapest by the cost model)");
  command.number("--memory-limit", options.memory_limit, 0, "maximum scratch per rank in MiB", "MIB");
  command.dtype(how.result, "dtype of D (that of A and B)");
  command.choice("--compute", how.compute, compute_types,
                 "minimum precision of the sums (determined by A and B)");
  command.reduce_dtype(how);
  command.order(how.order, "order of the elements of D (c)");
  command.device(options.on_gpu, "device to multiply on (cpu)");
  command.word("--wisdom", how.wisdom_file, "keep the fastest algorithms of GPU products in FILE.products",
               "FILE");
  command.flag("--explain", options.explain, "also print the plan");
  command.ranks(options.ranks);
  command.footer(examples(
      "partita matmul a.npy b.npy -o d.npy -n 4 --explain\n"
      "partita matmul x.npy x.npy -o gram.npy --op nt --distribution block-cyclic:2x2:128x128 -n 4\n"
      "partita matmul w.npy x.npy -o y.npy --epilogue gelu-bias --bias bias.npy --method all-gather\n"
      "partita matmul a.npy b.npy -o d.npy --device cuda -n 4"));
}

const Register registered("matmul", "multiply matrices in .npy and HDF5 files, on all ranks", describe,
                          multiply);

}  // namespace partita::tools::matmul_command
