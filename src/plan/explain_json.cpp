#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plan/cost.hpp"
#include "plan/describe.hpp"
#include "plan/explain.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Traffic& traffic) {
  Json result;
  for (const auto& [name, value] : traffic_fields) result[name] = traffic.*value;
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

}  // namespace

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

}  // namespace partita
