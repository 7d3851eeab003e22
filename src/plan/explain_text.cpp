#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/check.hpp"
#include "plan/describe.hpp"
#include "plan/explain.hpp"

namespace partita {
namespace {

using Text = std::back_insert_iterator<std::string>;

void write_heading(Text out, const Plan& plan) {
  const int ranks = plan.topology.ranks();
  const int nodes = plan.topology.node_count();
  fmt::format_to(out, "{}: rank {} of {} on {} node{}\n", plan.operation, plan.rank, ranks, nodes,
                 nodes == 1 ? "" : "s");
  fmt::format_to(out, "  method   {}{}{}\n", plan.method, plan.reason.empty() ? "" : ": ", plan.reason);
}

void write_buffers(Text out, const Plan& plan) {
  std::size_t width = 0;
  for (const Buffer& buffer : plan.buffers) width = std::max(width, buffer.name.size());
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    fmt::format_to(out, "  {:<8} {} {:<{}}  {:<7}  {}\n", i == 0 ? "buffers" : "", i, buffer.name, width,
                   name(buffer.kind),
                   buffer.operand ? buffer.operand->to_string() : describe_bytes(buffer.bytes));
  }
}

void write_step_counts(Text out, const Plan& plan) {
  std::map<StepKind, int> counts;
  for (const Step& step : plan.steps) ++counts[step.kind];
  fmt::format_to(out, "  steps    {}", plan.steps.size());
  const char* separator = ": ";
  for (const auto& [kind, count] : counts) {
    fmt::format_to(out, "{}{} {}", separator, count, name(kind));
    separator = ", ";
  }
  fmt::format_to(out, "\n");
}

void write_row(Text out, const char* title, const std::string& rank, const std::string& all) {
  fmt::format_to(out, "  {:<22}{:>14}", title, rank);
  if (!all.empty()) fmt::format_to(out, "{:>14}", all);
  fmt::format_to(out, "\n");
}

void write_traffic(Text out, const Plan& plan, const std::optional<Totals>& totals) {
  const Traffic rank = traffic(plan);
  const auto row = [&](const char* title, std::int64_t Traffic::*field, bool is_bytes) {
    const auto text = [is_bytes](std::int64_t value) {
      return is_bytes ? describe_bytes(value) : std::to_string(value);
    };
    write_row(out, title, text(rank.*field), totals ? text(totals->traffic.*field) : std::string());
  };
  write_row(out, "traffic", fmt::format("rank {}", plan.rank),
            totals ? fmt::format("{} rank{}", totals->ranks, totals->ranks == 1 ? "" : "s") : std::string());
  row("  stays on the rank", &Traffic::local_bytes, true);
  row("  inside the node", &Traffic::node_bytes, true);
  row("  as messages", &Traffic::network_bytes, true);
  row("  through staging", &Traffic::staging_bytes, true);
  row("  messages sent", &Traffic::messages, false);
  row("  signals sent", &Traffic::signals, false);
  if (totals && totals->asked < totals->ranks) {
    fmt::format_to(out, "  (the totals are scaled up from {} evenly spaced ranks)\n", totals->asked);
  }
}

void write_steps(Text out, const Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    fmt::format_to(out, "  {:>6}  {}\n", i, describe(plan, plan.steps[i]));
  }
}

}  // namespace

std::string explain_text(const Plan& plan, const std::optional<Totals>& totals, bool steps) {
  std::string text;
  const Text out(text);
  write_heading(out, plan);
  write_buffers(out, plan);
  write_step_counts(out, plan);
  write_traffic(out, plan, totals);
  if (steps) write_steps(out, plan);
  return text;
}

}  // namespace partita
