#include "runtime/greetings.hpp"

#include "base/check.hpp"
#include "runtime/keeper.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace partita {

Greetings::~Greetings() {
  if (first_ != last_) keep_until_exit(slots_);
}

int Greetings::neighbour(int distance) const {
  return (context_.rank() + distance + context_.size()) % context_.size();
}

void Greetings::greet(const Executed& execution, std::string_view operation) {
  look(operation);
  if (last_ - first_ == most) {
    const int previous = neighbour(-1);
    const WaitReason reason{
        operation, [&] { return fmt::format("the greeting of rank {}", previous); }, previous, {}};
    wait_until(context_, reason, [&] {
      look(operation);
      return last_ - first_ < most;
    });
  }
  Slot& mine = slot(last_++);
  mine.mine = execution;
  mine.received = context_.group->receive(neighbour(-1), Lane::greetings, &mine.theirs, sizeof(Executed));
  mine.sent = context_.group->send(neighbour(1), Lane::greetings, &mine.mine, sizeof(Executed));
}

void Greetings::look(std::string_view operation) {
  while (first_ != last_ && settled(slot(first_), operation)) ++first_;
}

bool Greetings::settled(Slot& slot, std::string_view operation) {
  if (slot.received >= 0 && context_.group->test(slot.received)) {
    slot.received = -1;
    check<DisagreementError>(
        slot.theirs == slot.mine,
        "{}: the ranks execute different plans, arrays or factors: rank {} is in execution {} (history "
        "{:016x}), rank {} in execution {} (history {:016x})",
        operation, context_.rank(), slot.mine.number, slot.mine.chain, neighbour(-1), slot.theirs.number,
        slot.theirs.chain);
  }
  if (slot.sent >= 0 && context_.group->test(slot.sent)) slot.sent = -1;
  return slot.received < 0 && slot.sent < 0;
}

void greet(Runtime& context, const Executed& execution, std::string_view operation) {
  if (!context.greetings) context.greetings = std::make_unique<Greetings>(context);
  context.greetings->greet(execution, operation);
}

}  // namespace partita
