// partita plan --operation matmul: what a multiply would move on any number of ranks, and the lower bound.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/command_line.hpp"
#include "tools/planning.hpp"
#include "tools/question.hpp"

namespace partita::tools {
namespace {

/// The answer for one amount of memory.
struct Answer {
  double memory = 0;    ///< as in the question; 0: without limit
  std::string refusal;  ///< why there is none, and what is sufficient; the rest is then as it is here
  Plan plan;            ///< of the rank that was asked for
  std::string d;
  Prediction prediction;
  std::int64_t received = 0;  ///< elements, of the rank that receives most
  std::int64_t scratch = 0;
  double bound = 0;

  double ratio() const { return bound > 0 ? static_cast<double>(received) / bound : 0; }
  std::string memory_text() const {
    return memory > 0 ? fmt::format("{:g} x operands", memory) : "unlimited";
  }
};

double largest_part(const Operand& operand) {
  return static_cast<double>(operand.layout.largest_local_size());
}

double multiplications(const Plan& plan) {
  double all = 0;
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::compute) continue;
    const Work& work = plan.works[static_cast<std::size_t>(step.work)];
    if (std::holds_alternative<partita::Multiply>(work)) all += flops(work, false) / 2;
  }
  return all;
}

class Multiply {
 public:
  Multiply(const PlanOptions& options, const Setting& setting)
      : options_(options),
        question_(options.question),
        setting_(setting),
        dtype_(question_.dtype.value_or(Dtype::f64)),
        how_(question_.matmul_options()),
        a_(operand(*question_.from, question_.shape_of_a(), dtype_)),
        b_(operand(*question_.to, question_.shape_of_b(), dtype_)) {}

  void answer() {
    answers_.push_back(answer_within(options_.memory));
    if (options_.memory == 0) answers_.push_back(answer_if_any(1.5));
    options_.json ? print_json() : print_text();
  }

 private:
  int ranks() const { return setting_.topology.ranks(); }
  std::int64_t m() const { return question_.shape[0]; }
  std::int64_t n() const { return question_.shape[1]; }
  std::int64_t k() const { return question_.shape[2]; }

  Operand operand(const Distribution& distribution, const Shape& shape, Dtype dtype) const {
    return question_.operand(distribution, shape, dtype, ranks());
  }

  /// Elements in addition to a rank's share of A, B and D: `times` the share in all.
  std::int64_t scratch_within(double times) const {
    const double rows = static_cast<double>(m()), columns = static_cast<double>(n()),
                 depth = static_cast<double>(k());
    const double elements = rows * depth + depth * columns + rows * columns;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>((times - 1) * elements / ranks()));
  }

  Answer answer_within(double times) const {
    const std::int64_t scratch = times > 0 ? scratch_within(times) : 0;
    MatmulOptions how = how_;
    how.memory_limit = scratch * size_of(dtype_);
    const Distribution d = cheapest_result(a_, b_, setting_.topology, how, setting_.machine).distribution();
    const MatmulOperands operands{a_, b_, {}, operand(d, {m(), n()}, result_dtype(dtype_, how))};
    Answer answer;
    answer.memory = times;
    answer.d = d.to_string();
    MatmulShares shares{0, largest_part(operands.a), largest_part(operands.b), largest_part(operands.d)};
    const std::string_view memory = times > 0 ? "of limited memory" : "of unlimited memory";
    Progress progress(phases_of_planning(ranks(), fmt::format("ranks planned, {}", memory)), true);
    const auto plan_rank = [&](int rank) {
      Plan plan = plan_matmul(operands, setting_.topology, rank, how, setting_.machine);
      const MatmulVolume volume = matmul_volume(plan);
      answer.received = std::max(answer.received, volume.received);
      answer.scratch = std::max(answer.scratch, volume.scratch);
      shares.multiplications = std::max(shares.multiplications, multiplications(plan));
      return plan;
    };
    const Planner planner = planned_once(plan_rank, progress);
    answer.prediction = simulate(planner, ranks(), setting_.machine);
    answer.plan = planner(options_.rank);
    answer.bound = matmul_volume_bound(m(), n(), k(), ranks(), scratch, shares);
    return answer;
  }

  /// The amount is ours, not the caller's: that no method does with so little is an answer, too.
  Answer answer_if_any(double times) const {
    try {
      return answer_within(times);
    } catch (const ArgumentError& error) {
      Answer answer;
      answer.memory = times;
      answer.refusal = error.what();
      return answer;
    }
  }

  void print_row(const Answer& answer) const {
    const double scratch = static_cast<double>(answer.scratch) * static_cast<double>(size_of(dtype_));
    fmt::print("  {:<15} {:<32} {:>10} {:>10} {:>10} {:>6.3f} {:>10}\n", answer.memory_text(),
               answer.plan.method, describe_seconds(answer.prediction.seconds),
               describe_elements(static_cast<double>(answer.received)), describe_elements(answer.bound),
               answer.ratio(), describe_bytes(scratch));
  }

  void print_text() const {
    fmt::print("matmul: {}x{} by {}x{}, {}, on {} ranks of {}\n", m(), k(), k(), n(), name(dtype_), ranks(),
               count_of(setting_.topology.node_count(), "node"));
    fmt::print("  {:<15} {:<32} {:>10} {:>10} {:>10} {:>6} {:>10}\n", "memory", "method", "predicted",
               "received", "bound", "ratio", "scratch");
    for (const Answer& answer : answers_) {
      if (answer.refusal.empty()) print_row(answer);
    }
    fmt::print("  elements that a rank receives, the most of {} ranks; predicted on \"{}\"\n",
               answers_.front().prediction.ranks_priced, setting_.machine.name);
    for (const Answer& answer : answers_) {
      const std::string reason =
          answer.refusal.empty() ? fmt::format("D is {}; {}", answer.d, answer.plan.reason) : answer.refusal;
      fmt::print("{}: {}\n", answer.memory_text(), reason);
    }
    if (!options_.steps) return;
    ExplainOptions form;
    form.steps = true;
    for (const Answer& answer : answers_) {
      if (answer.refusal.empty()) fmt::print("\n{}", explain(answer.plan, form));
    }
  }

  static std::string describe_elements(double elements) {
    if (elements >= 1e9) return fmt::format("{:.2f} G", elements / 1e9);
    if (elements >= 1e6) return fmt::format("{:.2f} M", elements / 1e6);
    return fmt::format("{:.0f}", elements);
  }

  nlohmann::ordered_json json_of(const Answer& answer) const {
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
                   {"ratio", answer.ratio()},
                   {"scratch", answer.scratch}});
    const ExplainOptions form{ExplainOptions::Format::json, true};
    if (options_.steps) result["plan"] = nlohmann::ordered_json::parse(explain(answer.plan, form));
    return result;
  }

  void print_json() const {
    nlohmann::ordered_json document = {{"operation", "matmul"},
                                       {"m", m()},
                                       {"n", n()},
                                       {"k", k()},
                                       {"dtype", name(dtype_)},
                                       {"ranks", ranks()},
                                       {"nodes", setting_.topology.node_count()},
                                       {"machine", setting_.machine.name}};
    for (const Answer& answer : answers_) document["answers"].push_back(json_of(answer));
    fmt::print("{}\n", document.dump(2));
  }

  const PlanOptions& options_;
  const Question& question_;
  const Setting& setting_;
  Dtype dtype_;
  MatmulOptions how_;
  Operand a_, b_;
  std::vector<Answer> answers_;
};

}  // namespace

void plan_multiply(const PlanOptions& options, const Setting& setting) {
  if (options.verify || !options.question.axes.empty())
    throw UsageError("--verify and --axes apply to redistributions");
  Multiply(options, setting).answer();
}

}  // namespace partita::tools
