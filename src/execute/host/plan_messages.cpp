#include "execute/host/plan_messages.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "execute/message_use.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/groups/kept_until_exit.hpp"

namespace partita::execution {
namespace {

/// Of a message between ranks of one host, at the least: one core copies it into shared memory, one out of
/// it.
constexpr std::int64_t slowest_bytes_per_millisecond = 500'000;
/// A rank that yields monitors neither its peers nor the deadline.
constexpr std::chrono::milliseconds most_patience{200};

}  // namespace

PlanMessages::PlanMessages(ContextState& context, const Plan& plan, runtime::Lane lane)
    : context_(context),
      plan_(plan),
      lane_(lane),
      in_flight_(plan.steps.size(), -1),
      sizes_(plan.steps.size()) {
  for (const int peer : peers_of(plan, StepKind::send)) receivers_.push_back({peer});
  for (const int peer : peers_of(plan, StepKind::receive)) senders_.push_back({peer});
  greetings_->received.resize(senders_.size());
}

PlanMessages::~PlanMessages() {
  if (context_.failed()) runtime::keep_until_exit(greetings_);
}

void PlanMessages::begin(const runtime::Executed& execution) {
  expect();
  greet(execution);
}

void PlanMessages::expect() {
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    Correspondent& sender = senders_[i];
    sender.message =
        context_.group->receive(sender.peer, lane_, &greetings_->received[i], sizeof(runtime::Executed));
  }
}

void PlanMessages::greet(const runtime::Executed& execution) {
  greetings_->mine = execution;
  for (Correspondent& receiver : receivers_) {
    receiver.message =
        context_.group->send(receiver.peer, lane_, &greetings_->mine, sizeof(runtime::Executed));
  }
}

void PlanMessages::send(std::size_t step, const void* data, std::int64_t bytes) {
  if (bytes == 0) return;
  in_flight_[step] = context_.group->send(plan_.steps[step].peer, lane_, data, bytes);
  bytes_under_way_ += sizes_[step] = bytes;
}

bool PlanMessages::may_receive(std::size_t step) {
  Correspondent& from = *sender(plan_.steps[step].peer);
  if (from.message < 0) return true;
  if (!arrived(from.message)) return false;
  from.message = -1;
  compare_greeting(from);
  return true;
}

void PlanMessages::receive(std::size_t step, void* data, std::int64_t bytes) {
  const Step& message = plan_.steps[step];
  check_greeting(*sender(message.peer));
  if (bytes == 0) return;
  in_flight_[step] = context_.group->receive(message.peer, lane_, data, bytes);
  bytes_under_way_ += sizes_[step] = bytes;
}

void PlanMessages::finish(std::size_t step) {
  if (in_flight_[step] < 0) return;
  const Step& message = plan_.steps[step];
  if (message.kind == StepKind::receive) {
    wait(in_flight_[step], message.peer, "a message from");
  } else {
    wait(in_flight_[step], message.peer, "the receipt of a message by");
  }
  bytes_under_way_ -= sizes_[step];
}

void PlanMessages::end() {
  for (std::size_t step = 0; step < in_flight_.size(); ++step) finish(step);
  for (Correspondent& receiver : receivers_)
    wait(receiver.message, receiver.peer, "the receipt of a greeting by");
}

void PlanMessages::check_greeting(Correspondent& sender) {
  if (sender.message < 0) return;
  wait(sender.message, sender.peer, "the greeting of");
  compare_greeting(sender);
}

void PlanMessages::compare_greeting(const Correspondent& sender) const {
  const runtime::Executed& mine = greetings_->mine;
  const runtime::Executed& theirs = greetings_->received[static_cast<std::size_t>(&sender - senders_.data())];
  if (theirs == mine) return;
  differ(
      fmt::format("rank {} is in execution {} (history {:016x}), rank {} in execution {} (history {:016x})",
                  context_.rank(), mine.number, mine.chain, sender.peer, theirs.number, theirs.chain),
      std::min(mine.number, theirs.number));
}

std::vector<int> PlanMessages::late() const {
  std::vector<int> ranks;
  for (const Correspondent& sender : senders_)
    if (sender.message >= 0) ranks.push_back(sender.peer);
  return ranks;
}

void PlanMessages::wait(runtime::MessageId& message, int peer, const char* what) {
  if (message < 0) return;
  const runtime::WaitReason reason{
      plan_.operation, [&] { return fmt::format("{} rank {}", what, peer); }, peer, {}, patience()};
  runtime::WaitLoop loop(context_, reason);
  while (!arrived(message)) {
    if (meanwhile_ && meanwhile_()) loop.progressed();
    loop.pause();
  }
  message = -1;
}

// Fails the context, with the same words on all ranks where they are to be had.
void PlanMessages::differ(const std::string& how, std::uint64_t execution) const {
  runtime::give_up_together(
      context_, plan_.operation,
      {runtime::ErrorKind::disagreement,
       fmt::format("{}: the ranks execute different plans, arrays or factors: {}", plan_.operation, how)},
      {runtime::Question::About::execution, execution});
}

// All plans of one execution fit: what does not is of different ones, whether or not a greeting has said so.
bool PlanMessages::arrived(runtime::MessageId message) const {
  try {
    return context_.group->test(message);
  } catch (const DisagreementError& misfit) {
    differ(misfit.what(), greetings_->mine.number);
  }
}

std::chrono::milliseconds PlanMessages::patience() const {
  const std::chrono::milliseconds needed{1 + bytes_under_way_ / slowest_bytes_per_millisecond};
  return std::min(needed, most_patience);
}

PlanMessages::Correspondent* PlanMessages::sender(int peer) {
  const auto found = std::lower_bound(senders_.begin(), senders_.end(), peer,
                                      [](const Correspondent& a, int rank) { return a.peer < rank; });
  return &*found;
}

}  // namespace partita::execution
