// partita plan: what a redistribution or a multiply would move, on any number of ranks, and how long it would
// take. No MPI.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <partita/machine.hpp>
#include <partita/redistribute.hpp>
#include <tuple>

#include "tools/command_line.hpp"
#include "tools/matmul_options.hpp"
#include "tools/plan_matmul.hpp"
#include "tools/redistribute_options.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace plan_command {

struct Options {
  std::string operation = "redistribute", from, to, shape, axes, dtype = "f64", machine, method = "automatic";
  std::string op = "nn", result;  // of a multiply
  double memory = 0;
  int ranks = 0, ranks_per_node = -1, rank = 0;
  bool ordinary = false, steps = false, json = false, verify = false;
};

// The question, ready to be asked for any rank.
struct Question {
  Topology topology;
  Machine machine;
  Planner planner;
};

int ranks_of(const Options& options, std::initializer_list<Distribution> distributions) {
  int named = 0;
  for (const Distribution& distribution : distributions)
    named = std::max(named, ranks_named_by(distribution));
  const int ranks = options.ranks > 0 ? options.ranks : named > 0 ? named : 4;
  if (options.rank >= ranks) throw UsageError(fmt::format("there is no rank {} of {}", options.rank, ranks));
  return ranks;
}

Machine machine_of(const Options& options) {
  return options.machine.empty() ? Machine::here() : Machine::find(options.machine);
}

// Without a word about nodes, all ranks sit together, as they would on the laptop at hand.
Topology topology_of(const Options& options, int ranks) {
  const int on_named_machine = options.machine.empty() ? 0 : machine_of(options).ranks_per_node;
  return Topology::regular(ranks, options.ranks_per_node >= 0 ? options.ranks_per_node : on_named_machine);
}

Question pose(const Options& options) {
  const Distribution from = Distribution::parse(options.from), to = Distribution::parse(options.to);
  const int ranks = ranks_of(options, {from, to});
  const Shape shape = parse_shape(options.shape);
  const Residency residency = options.ordinary ? Residency::ordinary : Residency::heap;
  const Dtype dtype = parse_dtype(options.dtype);
  RedistributeOptions how;
  how.axes = parse_axes(options.axes);
  how.method = parse_redistribute_method(options.method);
  const Operand source = Operand::of(Layout(from, shape, ranks), dtype, Order::row_major, residency);
  const Operand destination =
      Operand::of(Layout(to, permuted(shape, how.axes), ranks), dtype, Order::row_major, residency);
  const Machine machine = machine_of(options);
  const Topology topology = topology_of(options, ranks);
  return {topology, machine,
          [=](int rank) { return plan_redistribute(source, destination, topology, rank, how); }};
}

Verdict verified(const Options& options, const Question& question) {
  constexpr std::int64_t most = 4'000'000;
  const std::int64_t elements = volume(parse_shape(options.shape));
  if (elements > most) {
    throw UsageError(
        fmt::format("--verify follows every element: {} are too many, {} the most", elements, most));
  }
  return verify(question.planner);
}

void print_json(const Options& options, const Question& question, const Prediction& prediction) {
  ExplainOptions form;
  form.format = ExplainOptions::Format::json;
  form.steps = options.steps;
  auto document =
      nlohmann::ordered_json::parse(explain(question.planner(options.rank), form, question.planner));
  document["prediction"] = {
      {"machine", question.machine.name},        {"seconds", prediction.seconds},
      {"slowest_rank", prediction.slowest_rank}, {"ranks_priced", prediction.ranks_priced},
      {"bytes", prediction.total_bytes},         {"messages", prediction.total_messages}};
  if (options.verify) document["faults"] = verified(options, question).faults;
  fmt::print("{}\n", document.dump(2));
}

void print_text(const Options& options, const Question& question, const Prediction& prediction) {
  ExplainOptions form;
  form.steps = options.steps;
  fmt::print("{}", explain(question.planner(options.rank), form, question.planner));
  const int ranks = question.topology.ranks();
  const std::string how = prediction.ranks_priced == ranks
                              ? fmt::format("slowest: rank {}", prediction.slowest_rank)
                              : fmt::format("slowest of {} ranks priced: rank {}", prediction.ranks_priced,
                                            prediction.slowest_rank);
  fmt::print("predicted  {} on \"{}\" ({}); {} leave their rank, {} messages\n",
             describe_seconds(prediction.seconds), question.machine.name, how,
             describe_bytes(static_cast<double>(prediction.total_bytes)), prediction.total_messages);
}

void plan_multiply(const Options& options) {
  if (options.verify || !options.axes.empty())
    throw UsageError("--verify and --axes belong to redistributions");
  const Shape shape = parse_shape(options.shape);
  if (shape.size() != 3) throw UsageError(fmt::format("--shape {}: m x n x k of a multiply", options.shape));
  MatmulQuestion question;
  question.a = options.from;
  question.b = options.to;
  question.d = options.result;
  question.m = shape[0];
  question.n = shape[1];
  question.k = shape[2];
  question.dtype = parse_dtype(options.dtype);
  question.residency = options.ordinary ? Residency::ordinary : Residency::heap;
  std::tie(question.options.op_a, question.options.op_b) = parse_operations(options.op);
  question.options.method = parse_matmul_method(options.method);
  question.memory = options.memory;
  const Distribution a = Distribution::parse(options.from), b = Distribution::parse(options.to);
  const int ranks =
      ranks_of(options, {a, b, options.result.empty() ? a : Distribution::parse(options.result)});
  question.topology = topology_of(options, ranks);
  question.machine = machine_of(options);
  question.rank = options.rank;
  question.steps = options.steps;
  question.json = options.json;
  answer(question);
}

void plan(const Options& options) {
  if (options.operation == "matmul") return plan_multiply(options);
  const Question question = pose(options);
  const Prediction prediction = simulate(question.planner, question.topology.ranks(), question.machine);
  if (options.json) return print_json(options, question, prediction);
  print_text(options, question, prediction);
  if (!options.verify) return;
  const Verdict verdict = verified(options, question);
  for (const std::string& fault : verdict.faults) fmt::print("fault      {}\n", fault);
  if (!verdict.ok()) throw std::runtime_error("the plan is wrong");
  fmt::print("verified   every element arrives once, from an owner; no cycle of waits\n");
}

void add_plan(CLI::App& app) {
  auto* const command = app.add_subcommand(
      "plan", "what a redistribution or a multiply would move, and how long it would take");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("FROM", options->from,
                   "distribution of the source (or of A): slab:0, block-cyclic:2x2:64x64, ...")
      ->required();
  command->add_option("TO", options->to, "distribution of the destination (or of B)")->required();
  command->add_option("-s,--shape", options->shape, "global shape of the source; m x n x k of a multiply")
      ->required()
      ->type_name("8192x8192");
  command->add_option("--dtype", options->dtype, "element type (f64)")->type_name("DTYPE");
  command->add_option("-n,--ranks", options->ranks, "ranks (those that the distributions name, else 4)")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N");
  command
      ->add_option("--ranks-per-node", options->ranks_per_node, "0: all on one node (the machine's, else 0)")
      ->check(CLI::Range(0, 1 << 20).description(""))
      ->type_name("N");
  command->add_flag("--ordinary", options->ordinary,
                    "both arrays in ordinary memory, not on the symmetric heap");
  command
      ->add_option("--machine", options->machine,
                   "a shipped machine description, or a file ($PARTITA_MACHINE, else laptop)")
      ->type_name("NAME|FILE");
  command->add_option("--axes", options->axes, "dimension i of the result is dimension axes[i] of the source")
      ->type_name("1,0");
  command->add_option("--method", options->method, "the algorithm, for peers that allow it")
      ->type_name("NAME");
  command->add_option("--operation", options->operation, "redistribute (that is the default), or matmul")
      ->check(CLI::IsMember({"redistribute", "matmul"}).description(""))
      ->type_name("NAME");
  command->add_option("--op", options->op, "of a multiply: op(A) and op(B), as in nt (nn)")->type_name("XY");
  command->add_option("--result", options->result, "of a multiply: distribution of D (the cheapest)")
      ->type_name("DISTRIBUTION");
  command
      ->add_option("--memory", options->memory,
                   "of a multiply: all memory of a rank, in shares of the operands (no limit, and 1.5)")
      ->check(CLI::Range(1.0, 1e6).description(""))
      ->type_name("TIMES");
  command->add_option("--rank", options->rank, "whose plan (0)")
      ->check(CLI::Range(0, 1 << 20).description(""))
      ->type_name("N");
  command->add_flag("--steps", options->steps, "list its steps");
  command->add_flag("--json", options->json, "as JSON");
  command->add_flag("--verify", options->verify,
                    "check the plans of all ranks, element by element (small arrays)");
  command->footer(examples(
      "partita plan slab:0 slab:1 --shape 8192x8192 -n 4\n"
      "partita plan block-cyclic:64x64:64x64 block-cyclic:32x128:96x96 --shape 100000x100000 --machine "
      "cluster\n"
      "partita plan --operation matmul block-cyclic:64x64:128x128 block-cyclic:64x64:128x128 --shape "
      "131072x131072x131072 --machine cluster\n"
      "partita plan slab:0 slab:0 --axes 1,0 --shape 12x10 -n 3 --verify --steps"));
  command->callback([options] { plan(*options); });
}

const Register registered("plan", add_plan);

}  // namespace plan_command
}  // namespace partita::tools
