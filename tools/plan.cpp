// partita plan: what an operation would move, on any number of ranks, and how long it would take. No MPI.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/command_line.hpp"
#include "tools/planning.hpp"
#include "tools/question.hpp"

namespace partita::tools::plan_command {

// Without a word about nodes, all ranks sit together, as they would on the laptop at hand.
Setting setting_of(const PlanOptions& options) {
  const Question& question = options.question;
  const int ranks = question.ranks_or(4);
  if (options.rank >= ranks) throw UsageError(fmt::format("there is no rank {} of {}", options.rank, ranks));
  const std::string name = question.machine_name();
  Machine machine = name.empty() ? Machine::here() : Machine::find(name);
  const int usual = question.machine.empty() ? 0 : machine.ranks_per_node;
  return {Topology::regular(ranks, options.ranks_per_node >= 0 ? options.ranks_per_node : usual),
          std::move(machine)};
}

Planner planner_of_fft(const Question& question, const Setting& setting) {
  const Topology& topology = setting.topology;
  const Machine& machine = setting.machine;
  const FftOptions how = question.fft_options();
  const Dtype dtype = question.dtype_or_usual();
  const Operand input = question.operand(*question.from, question.shape, dtype, topology.ranks());
  Operand output = input;
  output.layout = result_layout(input, topology, how, machine);
  output.dtype = result_dtype(dtype, how.kind);
  return [=](int rank) { return plan_fft(input, output, topology, rank, how, machine); };
}

Planner planner_of(const Question& question, const Setting& setting) {
  if (question.operation == Operation::fft) return planner_of_fft(question, setting);
  if (question.is_linear()) return planner_of_linear(question, setting.topology, setting.machine);
  const Topology& topology = setting.topology;
  const auto operand = [&](const Distribution& distribution, const Shape& shape) {
    return question.operand(distribution, shape, question.dtype_or_usual(), topology.ranks());
  };
  const Operand source = operand(*question.from, question.shape);
  const Operand destination = operand(*question.to, question.destination_shape());
  return [=, how = question.redistribute_options()](int rank) {
    return plan_redistribute(source, destination, topology, rank, how);
  };
}

Verdict verified(const Question& question, const Planner& planner) {
  constexpr std::int64_t most = 4'000'000;
  if (question.operation != Operation::redistribute)
    throw UsageError("--verify follows the elements of a redistribution");
  const std::int64_t elements = volume(question.shape);
  if (elements > most) {
    throw UsageError(
        fmt::format("--verify follows every element: {} are too many, at most {}", elements, most));
  }
  return verify(planner);
}

/// What a rank receives on average, compared with a distribution in two dimensions.
struct Received {
  double bytes = 0, bound = 0;

  Received(const Question& question, const Setting& setting, const Prediction& prediction)
      : bytes(static_cast<double>(prediction.total_bytes) / setting.topology.ranks()),
        bound(bytes_of_grid(question, setting.topology.ranks())) {}
  double ratio() const { return bound > 0 ? bytes / bound : 0; }
};

void print_json(const PlanOptions& options, const Setting& setting, const Planner& planner,
                const Prediction& prediction) {
  const ExplainOptions form{ExplainOptions::Format::json, options.steps};
  auto document = nlohmann::ordered_json::parse(explain(planner(options.rank), form, planner));
  document["prediction"] = {
      {"machine", setting.machine.name},         {"seconds", prediction.seconds},
      {"slowest_rank", prediction.slowest_rank}, {"ranks_priced", prediction.ranks_priced},
      {"bytes", prediction.total_bytes},         {"messages", prediction.total_messages}};
  if (options.question.factorizes()) {
    const Received received(options.question, setting, prediction);
    document["received"] = {
        {"bytes", received.bytes}, {"bound", received.bound}, {"ratio", received.ratio()}};
  }
  if (options.verify) document["faults"] = verified(options.question, planner).faults;
  fmt::print("{}\n", document.dump(2));
}

void print_text(const PlanOptions& options, const Setting& setting, const Planner& planner,
                const Prediction& prediction) {
  ExplainOptions form;
  form.steps = options.steps;
  fmt::print("{}", explain(planner(options.rank), form, planner));
  const std::string of_all = prediction.ranks_priced == setting.topology.ranks()
                                 ? ""
                                 : fmt::format(" of {} ranks priced", prediction.ranks_priced);
  fmt::print("predicted  {} on \"{}\" (slowest{}: rank {}); {} leave their rank, {} messages\n",
             describe_seconds(prediction.seconds), setting.machine.name, of_all, prediction.slowest_rank,
             describe_bytes(static_cast<double>(prediction.total_bytes)), prediction.total_messages);
  if (!options.question.factorizes()) return;
  const Received received(options.question, setting, prediction);
  fmt::print("received   {} by a rank on average, {:.2f} times the {} of the best grid of ranks\n",
             describe_bytes(received.bytes), received.ratio(), describe_bytes(received.bound));
}

void plan(const PlanOptions& options) {
  const Question& question = options.question;
  question.check_distributions();
  const Setting setting = setting_of(options);
  if (question.operation == Operation::matmul) return plan_multiply(options, setting);
  Progress progress(phases_of_planning(setting.topology.ranks()), true);
  const Planner planner = planned_once(planner_of(question, setting), progress);
  const Prediction prediction = simulate(planner, setting.topology.ranks(), setting.machine);
  (void)planner(options.rank);
  progress.done();
  if (options.json) return print_json(options, setting, planner, prediction);
  print_text(options, setting, planner, prediction);
  if (!options.verify) return;
  const Verdict verdict = verified(question, planner);
  for (const std::string& fault : verdict.faults) fmt::print("fault      {}\n", fault);
  if (!verdict.ok()) throw std::runtime_error("the plan is invalid");
  fmt::print("verified   every element arrives once, from an owner; no cycle of waits\n");
}

void describe(Subcommand& command, PlanOptions& options) {
  Question& question = options.question;
  command
      .distribution("FROM", question.from,
                    "distribution of the source (or A, or the input): slab:0, block-cyclic:2x2:64x64, ...")
      .required();
  command.distribution(
      "TO", question.to,
      "distribution of the destination (or B; of an FFT's result: the cheapest; of a solve: slab:0)");
  tools::describe(command, question);
  command.number("--ranks-per-node", options.ranks_per_node, 0,
                 "ranks per node; 0: all on one node (the machine's, or 0)");
  command.choice("--operation", question.operation, operations,
                 "redistribute (default), matmul, fft, cholesky, lu, qr, or solve, with the factors");
  command.number("--memory", options.memory, 1.0,
                 "for a multiply: total memory of a rank, as a multiple of its operands (no limit, and 1.5)",
                 "TIMES");
  command.number("--rank", options.rank, 0, "rank to plan (0)");
  command.flag("--steps", options.steps, "list its steps");
  command.flag("--json", options.json, "as JSON");
  command.flag("--verify", options.verify, "check the plans of all ranks, element by element (small arrays)");
  command.footer(examples(
      "partita plan slab:0 slab:1 --shape 8192x8192 -n 4\n"
      "partita plan block-cyclic:64x64:64x64 block-cyclic:32x128:96x96 --shape 100000x100000 --machine "
      "cluster\n"
      "partita plan --operation matmul block-cyclic:64x64:128x128 block-cyclic:64x64:128x128 --shape "
      "131072x131072x131072 --machine cluster\n"
      "partita plan --operation fft slab:0 --shape 1024x1024x1024 -n 64 --machine cluster\n"
      "partita plan --operation fft slab:0 --shape 512x512x512 --dtype c64 -n 4 --device cuda --steps\n"
      "partita plan --operation lu block-cyclic:64x64:512x512 --shape 1000000x1000000 --block 512 --machine "
      "cluster\n"
      "partita plan slab:0 slab:0 --axes 1,0 --shape 12x10 -n 3 --verify --steps"));
}

const Register registered("plan", "show what an operation would move, and the predicted time", describe,
                          plan);

}  // namespace partita::tools::plan_command
