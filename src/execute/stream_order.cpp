#include "execute/stream_order.hpp"

#include <algorithm>

#include "plan/moves.hpp"

namespace partita {
namespace {

constexpr unsigned everybody = (1U << StreamOrder::lines) - 1;

}  // namespace

StreamOrder::StreamOrder(const Plan& plan, Order order)
    : plan_(plan), order_(std::move(order)), uses_(plan.buffers.size()) {}

void StreamOrder::begin(bool operands_meet) {
  operands_meet_ = operands_meet;
  std::ranges::fill(uses_, Use{});
  of_operands_ = {};
  given_.fill(0);
  for (auto& seen : seen_) seen.fill(0);
}

StreamOrder::Use* StreamOrder::use_of(const Place& place) {
  if (is_private(plan_, place)) return nullptr;
  const auto memory = static_cast<std::size_t>(memory_of(plan_, place));
  const bool is_operand = plan_.buffers[memory].kind == BufferKind::operand;
  return is_operand && operands_meet_ ? &of_operands_ : &uses_[memory];
}

void StreamOrder::move(const Step& step, int line) {
  const Set mine = 1U << static_cast<unsigned>(line);
  Use* const read = step.kind == StepKind::fill ? nullptr : use_of(step.from);
  Use* const written = use_of(step.to);
  follow(line, (read != nullptr ? read->writers : 0) |
                   (written != nullptr ? written->writers | written->readers : 0));
  if (read != nullptr) read->readers |= mine;
  if (written != nullptr) *written = {mine, 0};
  put(line);
}

void StreamOrder::signal() {
  follow(0, everybody);
  put(0);
}

void StreamOrder::wait() {
  put(0);
  // A peer may have written anything, as it were in the plan's own line.
  for (Use& use : uses_) use.writers |= 1U;
  of_operands_.writers |= 1U;
}

/// Only where the other line has been given something that this one has not waited for yet.
void StreamOrder::follow(int line, Set others) {
  for (int other = 0; other < lines; ++other) {
    std::int64_t& seen = seen_[static_cast<std::size_t>(line)][static_cast<std::size_t>(other)];
    const std::int64_t given = given_[static_cast<std::size_t>(other)];
    if (other == line || (others >> static_cast<unsigned>(other) & 1U) == 0 || seen == given) continue;
    order_(other, line);
    seen = given;
  }
}

}  // namespace partita
