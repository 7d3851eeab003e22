// partita trace: a timeline of an operation, as planned and as measured, in Chrome's trace event format.
#include <fmt/format.h>

#include <algorithm>
#include <partita/partita.hpp>

#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/question.hpp"

namespace partita::tools::trace_command {

struct Options {
  Question question;
  std::string output = "trace.json";
  int executions = 1;
};

/// An operation on the ranks, ready to run, and the plan of any of them.
struct Traced {
  Plan plan;
  Planner planner;
  std::function<void()> run;
};

Array make_random(const Context& context, const Question& question, const Distribution& distribution,
                  const Shape& shape) {
  Array array =
      empty(context, shape, distribution, question.dtype_or_usual(), {.residency = question.residency()});
  fill_random(array, 1);
  return array;
}

Traced trace_redistribute(const Context& context, const Question& question) {
  const RedistributeOptions how = question.redistribute_options();
  Array source = make_random(context, question, *question.from, question.shape);
  Array destination = make_random(context, question, *question.to, question.destination_shape());
  const Operand from = source.operand(), to = destination.operand();
  auto plan = std::make_shared<Redistribute>(context, from, to, how);
  const Topology topology = plan->plan().topology;
  const bool on_device = from.space == MemorySpace::device;
  return {plan->plan(), [=](int rank) { return plan_redistribute(from, to, topology, rank, how); },
          [=]() mutable {
            if (on_device) return plan->execute(source, destination, Stream{});
            plan->execute(source, destination);
          }};
}

Traced trace_matmul(const Context& context, const Question& question) {
  const MatmulOptions how = question.matmul_options();
  Array a = make_random(context, question, *question.from, question.shape_of_a());
  Array b = make_random(context, question, *question.to, question.shape_of_b());
  const Layout result = cheapest_result(a.operand(), b.operand(), context.topology(), how, context.machine());
  Array d = make_random(context, question, how.distribution.value_or(result.distribution()), result.shape());
  const MatmulOperands operands{a.operand(), b.operand(), {}, d.operand()};
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

Traced trace_fft(const Context& context, const Question& question) {
  const FftOptions how = question.fft_options();
  Array input = make_random(context, question, *question.from, question.shape);
  auto plan = std::make_shared<FFT>(context, input.operand(), how);
  Array result = empty(context, plan->output().layout, plan->output().dtype);
  const Operand from = input.operand(), to = result.operand();
  const Topology topology = plan->plan().topology;
  return {
      plan->plan(),
      [=, machine = context.machine()](int rank) { return plan_fft(from, to, topology, rank, how, machine); },
      [=]() mutable { plan->execute(input, result); }};
}

/// Diagonally dominant, Hermitian and positive definite.
Array make_matrix(const Context& context, const Question& question) {
  const Operand operand = question.matrix(context.size());
  const double n = static_cast<double>(operand.layout.shape()[1]);
  Array a = make_random(context, question, *question.from, operand.layout.shape());
  fill(a, [n](const Index& i) {
    return i[0] == i[1] ? n : 1 / (1.0 + std::abs(static_cast<double>(i[0] - i[1])));
  });
  return a;
}

template <class Factors>
Traced trace_factorization(const Context& context, const Question& question) {
  Array a = make_matrix(context, question);
  auto factors = std::make_shared<Factors>(a, question.factors);
  return {factors->plan(), planner_of_linear(question, factors->plan().topology, context.machine()),
          [=] { factors->factorize(a); }};
}

template <class Factors>
Traced trace_solve(const Context& context, const Question& question) {
  const auto factors = std::make_shared<Factors>(make_matrix(context, question), question.factors);
  const auto side = [&](bool of_b) {
    const Operand operand = question.right_hand_sides(context.size(), of_b);
    return make_random(context, question, operand.layout.distribution(), operand.layout.shape());
  };
  const Array b = side(true);
  Array x = side(false);
  const Planner planner = planner_of_linear(question, factors->plan().topology, context.machine());
  const SolveOptions how{.op = question.product.op_a};
  return {planner(context.rank()), planner, [=]() mutable { factors->solve_into(b, x, how); }};
}

template <class Factors>
Traced trace_linear(const Context& context, const Question& question) {
  return question.factorizes() ? trace_factorization<Factors>(context, question)
                               : trace_solve<Factors>(context, question);
}

Traced trace_linear(const Context& context, const Question& question) {
  switch (question.factorization()) {
    case Factorization::cholesky:
      return trace_linear<Cholesky>(context, question);
    case Factorization::lu:
      return trace_linear<Lu>(context, question);
    default:
      return trace_linear<Qr>(context, question);
  }
}

Traced make_traced(const Context& context, const Question& question) {
  if (question.operation == Operation::matmul) return trace_matmul(context, question);
  if (question.operation == Operation::fft) return trace_fft(context, question);
  if (question.is_linear()) return trace_linear(context, question);
  return trace_redistribute(context, question);
}

double length(const Timeline& timeline) {
  double end = 0;
  for (const auto& rank : timeline.ranks) {
    for (const TracedStep& step : rank) end = std::max(end, step.end);
  }
  return end;
}

void trace_on(const Context& context, const Options& options) {
  const Traced traced = make_traced(context, options.question);
  traced.run();  // the first one touches memory for the first time
  const Timeline measured = record_timeline(context, [&] {
    for (int i = 0; i < options.executions; ++i) traced.run();
  });
  if (context.rank() != 0) return;
  const Timeline planned = planned_timeline(traced.planner, context.size(), context.machine());
  const Timeline both[] = {planned, measured};
  write_file(options.output, chrome_trace(both));
  fmt::print("{}: {} by {}, {} steps on rank 0 of {}\n", options.output,
             operations.of(options.question.operation), traced.plan.method, traced.plan.steps.size(),
             context.size());
  fmt::print("  planned   {:>9}  on \"{}\"\n", describe_seconds(length(planned)), context.machine().name);
  fmt::print("  measured  {:>9}{}\n", describe_seconds(length(measured)),
             options.executions > 1 ? fmt::format("  for {} executions", options.executions) : "");
}

void trace(const Options& options) {
  const Question& question = options.question;
  // What can be refused without ranks is refused without them.
  question.check_distributions();
  constexpr int most = 64;
  const int ranks = question.ranks_or(usual_ranks());
  if (ranks > most) throw UsageError(fmt::format("timelines are for up to {} ranks, not {}", most, ranks));
  ContextOptions how;
  how.device = question.on_gpu ? usable_gpu() : Device::cpu();
  how.machine = question.machine_name();
  on_ranks(
      ranks, [&](Context& context) { trace_on(context, options); }, how);
}

void describe(Subcommand& command, Options& options) {
  Question& question = options.question;
  command
      .choice("OPERATION", question.operation, operations,
              "redistribute, matmul, fft, cholesky, lu, qr or solve")
      .required();
  command.distribution("FROM", question.from, "distribution of the source (or A, or the input): slab:0, ...")
      .required();
  command.distribution(
      "TO", question.to,
      "distribution of the destination (or B; of an FFT's result: the cheapest; of a solve: slab:0)");
  tools::describe(command, question);
  command.word("-o,--output", options.output, "the timeline, JSON (trace.json)", "FILE");
  command.number("--executions", options.executions, 1,
                 "number of recorded executions, after an unrecorded first one (1)");
  command.footer(examples(
      "partita trace redistribute slab:0 slab:1 --shape 8192x8192 -n 4 -o trace.json\n"
      "partita trace matmul slab:0 slab:1 --shape 2000x2000x2000 -n 4\n"
      "partita trace fft slab:0 --shape 256x256x256 -n 4 --executions 3\n"
      "partita trace lu slab:0 --shape 4096x4096 -n 4\n"
      "partita trace redistribute slab:0 slab:1 --shape 65536x16384 --dtype f32 --device cuda -n 4"));
}

const Register registered("trace",
                          "record a timeline of an operation, planned next to measured, for Perfetto",
                          describe, trace);

}  // namespace partita::tools::trace_command
