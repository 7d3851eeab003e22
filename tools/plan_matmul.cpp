#include "tools/plan_matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/command_line.hpp"

namespace partita::tools {
namespace {

/// The answer for one amount of memory.
struct Answer {
  double memory = 0;    ///< as in the question; 0: without limit
  std::string refusal;  ///< why there is none, and what would do; the rest is then as it is here
  Plan plan;            ///< of the rank that was asked for
  std::string d;
  Prediction prediction;
  std::int64_t received = 0;  ///< elements, of the rank that receives most
  std::int64_t scratch = 0;
  double bound = 0;
};

Shape transposed_if(bool transpose, std::int64_t rows, std::int64_t columns) {
  return transpose ? Shape{columns, rows} : Shape{rows, columns};
}

bool transposes(Op op) {
  return op == Op::transpose || op == Op::conjugate_transpose;
}

/// Elements beside a rank's share of A, B and D: `times` the share in all.
std::int64_t scratch_within(const MatmulQuestion& question, double times) {
  const double elements = static_cast<double>(question.m) * static_cast<double>(question.k) +
                          static_cast<double>(question.k) * static_cast<double>(question.n) +
                          static_cast<double>(question.m) * static_cast<double>(question.n);
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>((times - 1) * elements / question.topology.ranks()));
}

Answer answer_within(const MatmulQuestion& question, double times) {
  const int ranks = question.topology.ranks();
  const auto operand = [&](const Distribution& distribution, const Shape& shape) {
    return Operand::of(Layout(distribution, shape, ranks), question.dtype, Order::row_major,
                       question.residency);
  };
  MatmulOptions options = question.options;
  const Operand a = operand(Distribution::parse(question.a),
                            transposed_if(transposes(options.op_a), question.m, question.k));
  const Operand b = operand(Distribution::parse(question.b),
                            transposed_if(transposes(options.op_b), question.k, question.n));
  const std::int64_t scratch = times > 0 ? scratch_within(question, times) : 0;
  options.memory_limit = scratch * size_of(question.dtype);
  if (!question.d.empty()) options.distribution = Distribution::parse(question.d);
  const Distribution d = cheapest_result(a, b, question.topology, options, question.machine).distribution();
  const MatmulOperands operands{a, b, {}, operand(d, {question.m, question.n}), {}, {}, {}};

  Answer answer;
  answer.memory = times;
  answer.d = d.to_string();
  answer.bound = matmul_volume_bound(question.m, question.n, question.k, ranks, scratch);
  const Planner planner = [&](int rank) {
    Plan plan = plan_matmul(operands, question.topology, rank, options, question.machine);
    const MatmulVolume volume = matmul_volume(plan);
    answer.received = std::max(answer.received, volume.received);
    answer.scratch = std::max(answer.scratch, volume.scratch);
    return plan;
  };
  answer.prediction = simulate(planner, ranks, question.machine);
  answer.plan = planner(question.rank);
  return answer;
}

/// The amount is ours, not the caller's: that no method does with so little is an answer, too.
Answer answer_if_any(const MatmulQuestion& question, double times) {
  try {
    return answer_within(question, times);
  } catch (const ArgumentError& error) {
    Answer answer;
    answer.memory = times;
    answer.refusal = error.what();
    return answer;
  }
}

double ratio(const Answer& answer) {
  return answer.bound > 0 ? static_cast<double>(answer.received) / answer.bound : 0;
}

std::string memory_text(const Answer& answer) {
  return answer.memory > 0 ? fmt::format("{:g} x operands", answer.memory) : "unlimited";
}

std::string describe_elements(double elements) {
  if (elements >= 1e9) return fmt::format("{:.2f} G", elements / 1e9);
  if (elements >= 1e6) return fmt::format("{:.2f} M", elements / 1e6);
  return fmt::format("{:.0f}", elements);
}

void print_text(const MatmulQuestion& question, const std::vector<Answer>& answers) {
  const int nodes = question.topology.node_count();
  fmt::print("matmul: {}x{} by {}x{}, {}, on {} ranks of {} node{}\n", question.m, question.k, question.k,
             question.n, name(question.dtype), question.topology.ranks(), nodes, nodes == 1 ? "" : "s");
  fmt::print("  {:<15} {:<32} {:>10} {:>10} {:>10} {:>6} {:>10}\n", "memory", "method", "predicted",
             "received", "bound", "ratio", "scratch");
  for (const Answer& answer : answers) {
    if (!answer.refusal.empty()) continue;
    const double scratch = static_cast<double>(answer.scratch) * static_cast<double>(size_of(question.dtype));
    fmt::print("  {:<15} {:<32} {:>10} {:>10} {:>10} {:>6.3f} {:>10}\n", memory_text(answer),
               answer.plan.method, describe_seconds(answer.prediction.seconds),
               describe_elements(static_cast<double>(answer.received)), describe_elements(answer.bound),
               ratio(answer), describe_bytes(scratch));
  }
  fmt::print("  elements that a rank receives, the most of {} ranks; predicted on \"{}\"\n",
             answers.front().prediction.ranks_priced, question.machine.name);
  for (const Answer& answer : answers) {
    if (!answer.refusal.empty()) {
      fmt::print("{}: {}\n", memory_text(answer), answer.refusal);
    } else {
      fmt::print("{}: D is {}; {}\n", memory_text(answer), answer.d, answer.plan.reason);
    }
  }
  if (!question.steps) return;
  ExplainOptions form;
  form.steps = true;
  for (const Answer& answer : answers) {
    if (answer.refusal.empty()) fmt::print("\n{}", explain(answer.plan, form));
  }
}

nlohmann::ordered_json json_of(const MatmulQuestion& question, const Answer& answer) {
  nlohmann::ordered_json result = {{"memory", nullptr}};
  if (answer.memory > 0) result["memory"] = answer.memory;
  if (!answer.refusal.empty()) {
    result["refusal"] = answer.refusal;
    return result;
  }
  result.update({{"method", answer.plan.method},
                 {"reason", answer.plan.reason},
                 {"result", answer.d},
                 {"seconds", answer.prediction.seconds},
                 {"ranks_priced", answer.prediction.ranks_priced},
                 {"received", answer.received},
                 {"bound", answer.bound},
                 {"ratio", ratio(answer)},
                 {"scratch", answer.scratch}});
  if (question.steps) {
    ExplainOptions form{ExplainOptions::Format::json, true};
    result["plan"] = nlohmann::ordered_json::parse(explain(answer.plan, form));
  }
  return result;
}

void print_json(const MatmulQuestion& question, const std::vector<Answer>& answers) {
  nlohmann::ordered_json document = {{"operation", "matmul"},
                                     {"m", question.m},
                                     {"n", question.n},
                                     {"k", question.k},
                                     {"dtype", name(question.dtype)},
                                     {"ranks", question.topology.ranks()},
                                     {"nodes", question.topology.node_count()},
                                     {"machine", question.machine.name}};
  for (const Answer& answer : answers) document["answers"].push_back(json_of(question, answer));
  fmt::print("{}\n", document.dump(2));
}

}  // namespace

void answer(const MatmulQuestion& question) {
  std::vector<Answer> answers{answer_within(question, question.memory)};
  if (question.memory == 0) answers.push_back(answer_if_any(question, 1.5));
  question.json ? print_json(question, answers) : print_text(question, answers);
}

}  // namespace partita::tools
