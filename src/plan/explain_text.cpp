#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "plan/describe.hpp"
#include "plan/explain.hpp"

namespace partita {
namespace {

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
  const auto row = [&](const char* title, std::int64_t Traffic::*field, bool is_bytes) {
    const auto number = [is_bytes](std::int64_t value) {
      return is_bytes ? describe_bytes(value) : std::to_string(value);
    };
    write_row(text, title, number(rank.*field), totals ? number(totals->traffic.*field) : std::string());
  };
  write_row(text, "traffic", fmt::format("rank {}", plan.rank),
            totals ? fmt::format("{} rank{}", totals->ranks, totals->ranks == 1 ? "" : "s") : std::string());
  row("  stays on the rank", &Traffic::local_bytes, true);
  row("  inside the node", &Traffic::node_bytes, true);
  row("  as messages", &Traffic::network_bytes, true);
  row("  through staging", &Traffic::staging_bytes, true);
  row("  messages sent", &Traffic::messages, false);
  row("  signals sent", &Traffic::signals, false);
  if (totals && totals->asked < totals->ranks) {
    text += fmt::format("  (the totals are scaled up from {} evenly spaced ranks)\n", totals->asked);
  }
}

void write_steps(std::string& text, const Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    text += fmt::format("  {:>6}  {}\n", i, describe(plan, plan.steps[i]));
  }
}

}  // namespace

std::string explain_text(const Plan& plan, const std::optional<Totals>& totals, bool steps) {
  std::string text;
  write_heading(text, plan);
  write_buffers(text, plan);
  write_step_counts(text, plan);
  write_traffic(text, plan, totals);
  if (steps) write_steps(text, plan);
  return text;
}

}  // namespace partita
