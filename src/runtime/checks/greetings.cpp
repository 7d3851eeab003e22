#include "runtime/checks/greetings.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/groups/kept_until_exit.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

constexpr int most_greeted = 64;  // that all greet each other

void keep_different(std::vector<int>& ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

}  // namespace

Greeted greeted(const Runtime& context, std::vector<int> senders, std::vector<int> receivers) {
  const Topology& topology = context.topology();
  for (std::vector<int>* const ranks : {&senders, &receivers}) {
    for (int rank = 0; rank < topology.ranks() && topology.ranks() <= most_greeted; ++rank) {
      if (!topology.same_node(rank, context.rank())) ranks->push_back(rank);
    }
    keep_different(*ranks);
  }
  return {std::move(senders), std::move(receivers)};
}

Greetings::~Greetings() {
  if (first_ != last_) keep_until_exit(slots_);
}

template <class Ready>
void Greetings::wait(std::string_view operation, Ready&& ready) {
  const auto those = [this] { return late(); };
  const WaitReason reason{.operation = operation,
                          .what = [] { return std::string("what they execute"); },
                          .peers = those,
                          .late = those};
  wait_until(context_, reason, ready);
}

void Greetings::greet(const Executed& execution, const Greeted& ranks, std::string_view operation) {
  const auto& [senders, receivers] = ranks;
  look(operation);
  if (last_ - first_ == most) {
    wait(operation, [&] {
      look(operation);
      return last_ - first_ < most;
    });
  }
  Slot& next = slot(last_++);
  next.mine = execution;
  next.senders.resize(senders.size());
  next.sent.resize(receivers.size());
  for (std::size_t i = 0; i < senders.size(); ++i) {
    Sender& sender = next.senders[i];
    sender.peer = senders[i];
    sender.message =
        context_.group->receive(sender.peer, Lane::greetings, &sender.executed, sizeof(Executed));
  }
  for (std::size_t i = 0; i < receivers.size(); ++i) {
    next.sent[i] = context_.group->send(receivers[i], Lane::greetings, &next.mine, sizeof(Executed));
  }
}

void Greetings::look(std::string_view operation) {
  for (std::uint64_t number = first_; number != last_; ++number) {
    const bool come = have_come(slot(number), operation);
    if (number == first_ && come && have_left(slot(number))) ++first_;
  }
}

void Greetings::resolve(std::string_view operation) {
  for (std::uint64_t number = first_; number != last_; ++number) {
    wait(operation, [&] { return have_come(slot(number), operation); });
  }
  look(operation);
}

std::vector<int> Greetings::late() const {
  std::vector<int> ranks;
  for (std::uint64_t number = first_; number != last_; ++number) {
    const Slot& one = slots_->slots[number % most];
    for (const Sender& sender : one.senders)
      if (sender.message >= 0) ranks.push_back(sender.peer);
  }
  keep_different(ranks);
  return ranks;
}

bool Greetings::have_come(Slot& slot, std::string_view operation) {
  bool all = true;
  for (Sender& sender : slot.senders) {
    if (sender.message < 0) continue;
    if (!context_.group->test(sender.message)) {
      all = false;
      continue;
    }
    sender.message = -1;
    if (sender.executed == slot.mine) continue;
    const std::string text = fmt::format(
        "{}: the ranks execute different plans, arrays or factors: rank {} is in execution {} (history "
        "{:016x}), rank {} in execution {} (history {:016x})",
        operation, context_.rank(), slot.mine.number, slot.mine.chain, sender.peer, sender.executed.number,
        sender.executed.chain);
    give_up_together(context_, operation, {ErrorKind::disagreement, text},
                     {Question::About::execution, std::min(slot.mine.number, sender.executed.number)});
  }
  return all;
}

bool Greetings::have_left(Slot& slot) {
  for (MessageId& message : slot.sent) {
    if (message >= 0 && context_.group->test(message)) message = -1;
  }
  return std::ranges::all_of(slot.sent, [](MessageId message) { return message < 0; });
}

Greetings& greetings_of(Runtime& context) {
  if (!context.greetings) context.greetings = std::make_unique<Greetings>(context);
  return *context.greetings;
}

}  // namespace partita::runtime
