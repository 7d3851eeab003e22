// The two forms of explain: text, and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "plan/cost.hpp"
#include "plan/describe.hpp"
#include "plan/moves.hpp"
#include "plan/sample.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

using namespace planning;

/// Totals over the ranks of an operation, estimated where only a sample was asked.
struct Totals {
  Traffic traffic;
  int ranks = 0;
  int asked = 0;
};

/// The numbers of Traffic, by their names in JSON and in text.
struct TrafficField {
  const char* name;
  const char* title;
  std::int64_t Traffic::*value;
  bool is_bytes;
};
constexpr std::array<TrafficField, 6> traffic_fields{{
    {"local_bytes", "  stays on the rank", &Traffic::local_bytes, true},
    {"node_bytes", "  inside the node", &Traffic::node_bytes, true},
    {"network_bytes", "  as messages", &Traffic::network_bytes, true},
    {"staging_bytes", "  through staging", &Traffic::staging_bytes, true},
    {"messages", "  messages sent", &Traffic::messages, false},
    {"signals", "  signals sent", &Traffic::signals, false},
}};

constexpr int most_ranks_asked = 1024;
constexpr int sample_size = 256;

Totals totals_of(const Planner& planner, const Plan& plan) {
  Totals totals;
  const int ranks = plan.topology.ranks();
  const RankSample sample = sample_ranks(plan, ranks <= most_ranks_asked ? ranks : sample_size);
  std::array<double, traffic_fields.size()> sums{};
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const Traffic more = traffic(planner(sample.ranks[i]));
    for (std::size_t field = 0; field < sums.size(); ++field) {
      sums[field] += sample.weights[i] * static_cast<double>(more.*traffic_fields[field].value);
    }
  }
  for (std::size_t field = 0; field < sums.size(); ++field) {
    totals.traffic.*traffic_fields[field].value = std::llround(sums[field]);
  }
  totals.ranks = ranks;
  totals.asked = static_cast<int>(sample.size());
  return totals;
}

// --- JSON

using Json = nlohmann::ordered_json;

Json json_of(const Traffic& traffic) {
  Json result;
  for (const TrafficField& field : traffic_fields) result[field.name] = traffic.*field.value;
  return result;
}

Json json_of(const Buffer& buffer) {
  Json result{{"name", buffer.name}, {"kind", name(buffer.kind)}};
  if (!buffer.operand) {
    result["bytes"] = buffer.bytes;
    return result;
  }
  const Operand& operand = *buffer.operand;
  result["operand"] = operand.to_string();
  result["shape"] = std::vector<std::int64_t>(operand.layout.shape().begin(), operand.layout.shape().end());
  result["distribution"] = operand.layout.distribution().to_string();
  result["dtype"] = name(operand.dtype);
  result["residency"] = operand.residency == Residency::heap ? "heap" : "ordinary";
  return result;
}

Json json_of(const Plan& plan, const Place& place) {
  Json result{{"buffer", place.buffer}, {"rank", place.rank}};
  const auto index = static_cast<std::size_t>(place.buffer);
  if (index < plan.buffers.size() && !plan.buffers[index].operand) result["offset"] = place.offset;
  return result;
}

Json json_of(const Plan& plan, const Step& step) {
  const StepKind kind = step.kind;
  const bool counts = kind == StepKind::signal || kind == StepKind::wait;
  Json result{{"kind", name(kind)}};
  if (is_copy(kind)) result["region"] = to_string(step.region);
  if (is_message(kind) || counts) result["peer"] = step.peer;
  if (is_message(kind)) result["bytes"] = step.bytes;
  if (is_message(kind) && step.expected_bytes >= 0) result["expected_bytes"] = step.expected_bytes;
  if (counts) result["channel"] = step.channel;
  if (kind == StepKind::wait) result["count"] = step.count;
  if (kind == StepKind::send || (is_copy(kind) && kind != StepKind::fill)) {
    result["from"] = json_of(plan, step.from);
  }
  if (kind == StepKind::receive || is_copy(kind)) result["to"] = json_of(plan, step.to);
  if (kind == StepKind::compute) result["work"] = describe_work(plan, step);
  if (step.kind == StepKind::accumulate || step.kind == StepKind::fill) {
    result["reduction"] = name(step.reduction);
  }
  if (step.round >= 0) result["round"] = step.round;
  if (!step.after.empty()) result["after"] = step.after;
  return result;
}

Json json_of(const Totals& totals) {
  Json result{{"ranks", totals.ranks}, {"ranks_asked", totals.asked}};
  result["sampled"] = totals.asked < totals.ranks;
  result.update(json_of(totals.traffic));
  return result;
}

std::string explain_json(const Plan& plan, const std::optional<Totals>& totals, bool steps) {
  Json result{{"operation", plan.operation},
              {"method", plan.method},
              {"reason", plan.reason},
              {"rank", plan.rank},
              {"ranks", plan.topology.ranks()},
              {"nodes", plan.topology.node_count()},
              {"hash", fmt::format("{:016x}", plan.hash())}};
  for (const Buffer& buffer : plan.buffers) result["buffers"].push_back(json_of(buffer));
  result["step_count"] = plan.steps.size();
  result["traffic"] = json_of(traffic(plan));
  if (totals) result["total"] = json_of(*totals);
  if (steps) {
    result["steps"] = Json::array();
    for (const Step& step : plan.steps) result["steps"].push_back(json_of(plan, step));
  }
  return result.dump(2) + "\n";
}

// --- text

void write_heading(std::string& text, const Plan& plan) {
  const int ranks = plan.topology.ranks();
  const int nodes = plan.topology.node_count();
  text += fmt::format("{}: rank {} of {} on {} node{}\n", plan.operation, plan.rank, ranks, nodes,
                      nodes == 1 ? "" : "s");
  text += fmt::format("  method   {}{}{}\n", plan.method, plan.reason.empty() ? "" : ": ", plan.reason);
}

void write_buffers(std::string& text, const Plan& plan) {
  std::size_t width = 0;
  for (const Buffer& buffer : plan.buffers) width = std::max(width, buffer.name.size());
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    text += fmt::format("  {:<8} {} {:<{}}  {:<7}  {}\n", i == 0 ? "buffers" : "", i, buffer.name, width,
                        name(buffer.kind),
                        buffer.operand ? buffer.operand->to_string() : describe_bytes(buffer.bytes));
  }
}

void write_step_counts(std::string& text, const Plan& plan) {
  std::map<StepKind, int> counts;
  for (const Step& step : plan.steps) ++counts[step.kind];
  text += fmt::format("  steps    {}", plan.steps.size());
  const char* separator = ": ";
  for (const auto& [kind, count] : counts) {
    text += fmt::format("{}{} {}", separator, count, name(kind));
    separator = ", ";
  }
  text += "\n";
}

void write_row(std::string& text, const char* title, const std::string& rank, const std::string& all) {
  text += fmt::format("  {:<22}{:>14}", title, rank);
  if (!all.empty()) text += fmt::format("{:>14}", all);
  text += "\n";
}

void write_traffic(std::string& text, const Plan& plan, const std::optional<Totals>& totals) {
  const Traffic rank = traffic(plan);
  write_row(text, "traffic", fmt::format("rank {}", plan.rank),
            totals ? fmt::format("{} rank{}", totals->ranks, totals->ranks == 1 ? "" : "s") : std::string());
  for (const TrafficField& field : traffic_fields) {
    const auto number = [&](const Traffic& of) {
      return field.is_bytes ? describe_bytes(of.*field.value) : std::to_string(of.*field.value);
    };
    write_row(text, field.title, number(rank), totals ? number(totals->traffic) : std::string());
  }
  if (totals && totals->asked < totals->ranks) {
    text += fmt::format("  (the totals are estimated from a sample of {} ranks)\n", totals->asked);
  }
}

void write_steps(std::string& text, const Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    text += fmt::format("  {:>6}  {}\n", i, describe(plan, plan.steps[i]));
  }
}

std::string explain_text(const Plan& plan, const std::optional<Totals>& totals, bool steps) {
  std::string text;
  write_heading(text, plan);
  write_buffers(text, plan);
  write_step_counts(text, plan);
  write_traffic(text, plan, totals);
  if (steps) write_steps(text, plan);
  return text;
}

}  // namespace

std::string explain(const Plan& plan, const ExplainOptions& options, const Planner& planner) {
  std::optional<Totals> totals;
  if (planner) totals = totals_of(planner, plan);
  return options.format == ExplainOptions::Format::json ? explain_json(plan, totals, options.steps)
                                                        : explain_text(plan, totals, options.steps);
}

}  // namespace partita
