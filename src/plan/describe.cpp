#include "plan/describe.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/check.hpp"
#include "plan/work.hpp"

namespace partita::planning {
namespace {

std::string after_text(const Step& step) {
  if (step.after.empty()) return "";
  return fmt::format(", after the message{} of step {}", step.after.size() > 1 ? "s" : "",
                     fmt::join(step.after, ", "));
}

std::string action_text(const Plan& plan, const Step& step) {
  const std::string_view at_most = step.expected_bytes < 0 ? "" : "at most ";
  switch (step.kind) {
    case StepKind::copy:
      return fmt::format("copy {} from {} to {}", to_string(step.region), describe(plan, step.from),
                         describe(plan, step.to));
    case StepKind::accumulate:
      return fmt::format("accumulate ({}) {} from {} to {}", name(step.reduction), to_string(step.region),
                         describe(plan, step.from), describe(plan, step.to));
    case StepKind::fill:
      return fmt::format("fill {} of {} with the identity of {}", to_string(step.region),
                         describe(plan, step.to), name(step.reduction));
    case StepKind::send:
      return fmt::format("send {}{} bytes of {} to rank {}", at_most, step.bytes, describe(plan, step.from),
                         step.peer);
    case StepKind::receive:
      return fmt::format("receive {}{} bytes from rank {} to {}", at_most, step.bytes, step.peer,
                         describe(plan, step.to));
    case StepKind::signal:
      return fmt::format("signal rank {} on channel {}", step.peer, step.channel);
    case StepKind::wait:
      return fmt::format("wait for {} signal{} of rank {} on channel {}", step.count,
                         step.count == 1 ? "" : "s", step.peer, step.channel);
    case StepKind::finish:
      return "finish";
    case StepKind::compute:
      return describe_work(plan, step);
  }
  return "unknown step";
}

}  // namespace

std::string_view name(StepKind kind) {
  constexpr std::array<std::string_view, 9> names{"copy",   "accumulate", "fill",   "send",   "receive",
                                                  "signal", "wait",       "finish", "compute"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "unknown";
}

std::string_view name(BufferKind kind) {
  constexpr std::array<std::string_view, 3> names{"operand", "shared", "scratch"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "unknown";
}

std::string describe(const Plan& plan, const Place& place) {
  const auto index = static_cast<std::size_t>(place.buffer);
  if (index >= plan.buffers.size()) return fmt::format("unknown buffer {}", place.buffer);
  const Buffer& buffer = plan.buffers[index];
  const std::string where =
      buffer.kind == BufferKind::operand ? std::string() : fmt::format("[{}]", place.offset);
  return fmt::format("{}{} of rank {}", buffer.name, where, place.rank);
}

std::string describe(const Plan& plan, const Step& step) {
  return action_text(plan, step) + after_text(step);
}

std::string describe_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace partita::planning
