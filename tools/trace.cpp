// partita trace: a timeline of an operation, as planned and as measured, in Chrome's trace event format.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <partita/partita.hpp>

#include "tools/command_line.hpp"
#include "tools/device_option.hpp"
#include "tools/fft_options.hpp"
#include "tools/job.hpp"
#include "tools/matmul_options.hpp"
#include "tools/redistribute_options.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace trace_command {

struct Options {
  std::string operation, from, to, shape, dtype, output = "trace.json", machine, device, op = "nn", method,
                                                 axes;
  int ranks = 0, executions = 1;
  bool ordinary = false;
};

/// An operation on the ranks, ready to run, and the plan of any of them.
struct Traced {
  Plan plan;
  Planner planner;
  std::function<void()> run;
};

Residency residency(const Options& options) {
  return options.ordinary ? Residency::ordinary : Residency::heap;
}

Dtype dtype_of(const Options& options, const char* usual) {
  return parse_dtype(options.dtype.empty() ? usual : options.dtype);
}

Array make_random(const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
                  Residency residency) {
  Array array = empty(context, shape, distribution, dtype, {residency, Order::row_major});
  fill_random(array, 1);
  return array;
}

Traced trace_redistribute(const Context& context, const Options& options) {
  const Shape shape = parse_shape(options.shape);
  const Dtype dtype = dtype_of(options, "f64");
  RedistributeOptions how;
  how.axes = parse_axes(options.axes);
  how.method = parse_redistribute_method(options.method.empty() ? "automatic" : options.method);
  for (const int axis : how.axes) {
    if (axis >= shape.size() || how.axes.size() != static_cast<std::size_t>(shape.size()))
      throw UsageError(fmt::format("--axes {} does not order the {} axes of {}", options.axes, shape.size(),
                                   to_string(shape)));
  }
  Array source = make_random(context, shape, Distribution::parse(options.from), dtype, residency(options));
  Array destination = make_random(context, permuted(shape, how.axes), Distribution::parse(options.to), dtype,
                                  residency(options));
  auto plan = std::make_shared<Redistribute>(context, source.operand(), destination.operand(), how);
  const Operand from = source.operand(), to = destination.operand();
  const Topology topology = plan->plan().topology;
  const bool on_device = source.operand().space == MemorySpace::device;
  return {plan->plan(), [=](int rank) { return plan_redistribute(from, to, topology, rank, how); },
          [=]() mutable {
            if (on_device) return plan->execute(source, destination, Stream{});
            plan->execute(source, destination);
          }};
}

Traced trace_matmul(const Context& context, const Options& options) {
  const Shape shape = parse_shape(options.shape);
  if (shape.size() != 3) throw UsageError(fmt::format("--shape {}: m x n x k of a multiply", options.shape));
  const Dtype dtype = dtype_of(options, "f64");
  MatmulOptions how;
  std::tie(how.op_a, how.op_b) = parse_operations(options.op);
  how.method = parse_matmul_method(options.method.empty() ? "automatic" : options.method);
  const auto transposes = [](Op op) { return op == Op::transpose || op == Op::conjugate_transpose; };
  const auto factor = [&](Op op, std::int64_t rows, std::int64_t columns, const std::string& distribution) {
    const Shape extents = transposes(op) ? Shape{columns, rows} : Shape{rows, columns};
    return make_random(context, extents, Distribution::parse(distribution), dtype, residency(options));
  };
  Array a = factor(how.op_a, shape[0], shape[2], options.from);
  Array b = factor(how.op_b, shape[2], shape[1], options.to);
  const Layout result = cheapest_result(a.operand(), b.operand(), context.topology(), how, context.machine());
  Array d = make_random(context, {shape[0], shape[1]}, result.distribution(), dtype, residency(options));
  const MatmulOperands operands{a.operand(), b.operand(), {}, d.operand(), {}, {}, {}};
  auto plan = std::make_shared<Matmul>(context, operands, how);
  plan->reset(a, b, nullptr, d);
  const Topology topology = plan->plan().topology;
  return {plan->plan(),
          [=, machine = context.machine()](int rank) {
            return plan_matmul(operands, topology, rank, how, machine);
          },
          // The arrays live as long as what is bound to them.
          [plan, a, b, d]() { plan->execute(); }};
}

Traced trace_fft(const Context& context, const Options& options) {
  const Dtype dtype = dtype_of(options, "c128");
  FftOptions how;
  how.kind = usual_kind(dtype);
  how.axes = parse_axes(options.axes);
  how.method = parse_fft_method(options.method.empty() ? "automatic" : options.method);
  how.output = options.to.empty() ? Output::cheapest : Output::given;
  if (!options.to.empty()) how.distribution = Distribution::parse(options.to);
  Array input = make_random(context, parse_shape(options.shape), Distribution::parse(options.from), dtype,
                            residency(options));
  auto plan = std::make_shared<FFT>(context, input.operand(), how);
  Array result = empty(context, plan->output().layout, plan->output().dtype);
  const Operand from = input.operand(), to = result.operand();
  const Topology topology = plan->plan().topology;
  return {
      plan->plan(),
      [=, machine = context.machine()](int rank) { return plan_fft(from, to, topology, rank, how, machine); },
      [=]() mutable { plan->execute(input, result); }};
}

Traced make_traced(const Context& context, const Options& options) {
  if (options.operation == "matmul") return trace_matmul(context, options);
  if (options.operation == "fft") return trace_fft(context, options);
  return trace_redistribute(context, options);
}

double length(const Timeline& timeline) {
  double end = 0;
  for (const auto& rank : timeline.ranks) {
    for (const TracedStep& step : rank) end = std::max(end, step.end);
  }
  return end;
}

void trace_on(const Context& context, const Options& options) {
  const Traced traced = make_traced(context, options);
  traced.run();  // the first one touches memory for the first time
  const Timeline measured = record_timeline(context, [&] {
    for (int i = 0; i < options.executions; ++i) traced.run();
  });
  if (context.rank() != 0) return;
  const Timeline planned = planned_timeline(traced.planner, context.size(), context.machine());
  const Timeline both[] = {planned, measured};
  write_file(options.output, chrome_trace(both));
  fmt::print("{}: {} by {}, {} steps on rank 0 of {}\n", options.output, options.operation,
             traced.plan.method, traced.plan.steps.size(), context.size());
  fmt::print("  planned   {:>9}  on \"{}\"\n", describe_seconds(length(planned)), context.machine().name);
  fmt::print("  measured  {:>9}{}\n", describe_seconds(length(measured)),
             options.executions > 1 ? fmt::format("  for {} executions", options.executions) : "");
}

/// What can be refused without ranks is refused without them.
int ranks_of(const Options& options) {
  if (options.to.empty() && options.operation != "fft")
    throw UsageError(fmt::format("{} needs two distributions", options.operation));
  (void)parse_shape(options.shape);
  int named = ranks_named_by(Distribution::parse(options.from));
  if (!options.to.empty()) named = std::max(named, ranks_named_by(Distribution::parse(options.to)));
  constexpr int most = 64;
  const int ranks = options.ranks > 0 ? options.ranks : named > 0 ? named : std::min(4, usable_cores());
  if (ranks > most) throw UsageError(fmt::format("timelines are for up to {} ranks, not {}", most, ranks));
  return ranks;
}

void trace(const Options& options) {
  ContextOptions how;
  how.device = parse_device(options.device);
  how.machine = options.machine;
  const bool on_gpus = how.device.kind == Device::Kind::cuda;
  if (how.machine.empty() && on_gpus && std::getenv("PARTITA_MACHINE") == nullptr) how.machine = "node-8-gpu";
  on_ranks(
      ranks_of(options), [&](Context& context) { trace_on(context, options); }, how);
}

void add_trace(CLI::App& app) {
  auto* const command =
      app.add_subcommand("trace", "a timeline of an operation, planned beside measured, for Perfetto");
  const auto options = std::make_shared<Options>();
  command->add_option("OPERATION", options->operation, "redistribute, matmul or fft")
      ->required()
      ->check(CLI::IsMember({"redistribute", "matmul", "fft"}).description(""));
  command->add_option("FROM", options->from, "distribution of the source (of A, of the input): slab:0, ...")
      ->required();
  command->add_option("TO", options->to, "of the destination (of B; of the result: what costs least)");
  command->add_option("-s,--shape", options->shape, "global shape of the source; m x n x k of a multiply")
      ->required()
      ->type_name("8192x8192");
  command->add_option("-o,--output", options->output, "the timeline, JSON (trace.json)")->type_name("FILE");
  command
      ->add_option("-n,--ranks", options->ranks,
                   "ranks to start (those that the distributions name, else up to 4)")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N");
  add_device_option(*command, options->device);
  command
      ->add_option("--executions", options->executions,
                   "that are recorded, after a first one that is not (1)")
      ->check(CLI::Range(1, 100000).description(""))
      ->type_name("N");
  command->add_option("--dtype", options->dtype, "element type (f64; c128 of a transform)")
      ->type_name("DTYPE");
  command->add_option("--axes", options->axes, "permutation of a redistribution; axes that are transformed")
      ->type_name("1,0");
  command->add_option("--method", options->method, "the algorithm (chosen)")->type_name("NAME");
  command->add_option("--op", options->op, "of a multiply: op(A) and op(B), as in nt (nn)")->type_name("XY");
  command->add_flag("--ordinary", options->ordinary, "arrays in ordinary memory, not on the symmetric heap");
  command
      ->add_option("--machine", options->machine,
                   "whose figures are planned with ($PARTITA_MACHINE, else laptop; node-8-gpu for GPUs)")
      ->type_name("NAME|FILE");
  command->footer(examples(
      "partita trace redistribute slab:0 slab:1 --shape 8192x8192 -n 4 -o trace.json\n"
      "partita trace matmul slab:0 slab:1 --shape 2000x2000x2000 -n 4\n"
      "partita trace fft slab:0 --shape 256x256x256 -n 4 --executions 3\n"
      "partita trace redistribute slab:0 slab:1 --shape 65536x16384 --dtype f32 --device cuda -n 4"));
  command->callback([options] { trace(*options); });
}

const Register registered("trace", add_trace);

}  // namespace trace_command
}  // namespace partita::tools
