#include "execute/device/device_plan_messages.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "device/stream_work.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/announcement.hpp"

namespace partita::execution {

DevicePlanMessages::DevicePlanMessages(ContextState& context, const Plan& plan)
    : context_(context), plan_(plan), mail_(context, plan), waits_(plan.steps.size(), false) {
  for (const StepKind kind : {StepKind::send, StepKind::receive}) {
    const auto count = std::ranges::count(plan.steps, kind, &Step::kind);
    (kind == StepKind::send ? sends_ : receives_).entries.reserve(static_cast<std::size_t>(count));
  }
  mail_.meanwhile([this] { return start_what_may(); });
}

DevicePlanMessages::List& DevicePlanMessages::list_of(std::size_t step) {
  return plan_.steps[step].kind == StepKind::send ? sends_ : receives_;
}

void DevicePlanMessages::begin(const runtime::Executed& execution, LaneEvents& events) {
  events_ = &events;
  may_receive_ = unpacked_ == nullptr;
  for (List* const list : {&sends_, &receives_}) {
    list->entries.clear();
    list->next = 0;
  }
  mail_.begin(execution);
}

void DevicePlanMessages::send(std::size_t step, const void* data) {
  put(step, const_cast<void*>(data));
}

void DevicePlanMessages::receive(std::size_t step, void* data) {
  put(step, data);
}

void DevicePlanMessages::put(std::size_t step, void* memory) {
  list_of(step).entries.push_back({step, memory});
  waits_[step] = true;
  start_what_may();
}

bool DevicePlanMessages::may_start(std::size_t step) {
  if (plan_.steps[step].kind == StepKind::send) {
    if (!events_->reached(step)) return false;
    // Flags and packets of neighbours have passed into it, with whom the receiver does not compare.
    runtime::compare_announcements(context_, plan_.operation);
    return true;
  }
  may_receive_ = may_receive_ || unpacked_->reached();
  return may_receive_ && mail_.may_receive(step) && events_->reached(step);
}

bool DevicePlanMessages::start_what_may() {
  bool started = false;
  for (List* const list : {&receives_, &sends_}) {
    for (; !list->empty() && may_start(list->front().step); ++list->next) {
      const auto& [step, memory] = list->front();
      if (list == &sends_) {
        mail_.send(step, memory, plan_.steps[step].bytes);
      } else {
        mail_.receive(step, memory, plan_.steps[step].bytes);
      }
      waits_[step] = false;
      started = true;
    }
  }
  return started;
}

void DevicePlanMessages::finish(std::size_t step) {
  if (waits_[step]) {
    wait_for_streams([&] { return !waits_[step]; });
  }
  mail_.finish(step);
}

void DevicePlanMessages::end(Stream unpacking) {
  if (!sends_.empty() || !receives_.empty()) {
    wait_for_streams([&] { return sends_.empty() && receives_.empty(); });
  }
  mail_.end();
  if (!unpacked_) unpacked_ = context_.device->event();
  unpacked_->record(unpacking);
}

/// Streams may wait for the signals of neighbours.
template <class Ready>
void DevicePlanMessages::wait_for_streams(Ready&& ready) {
  const runtime::WaitReason reason{plan_.operation,
                                   [] { return std::string("copies to and from messages"); },
                                   -1,
                                   [this] { return devices::others_of_the_node(context_); },
                                   mail_.patience(),
                                   runtime::WaitReason::Kind::call,
                                   [this] {
                                     std::vector<int> ranks = devices::late_for_the_device(context_);
                                     for (const int rank : mail_.late()) ranks.push_back(rank);
                                     return ranks;
                                   }};
  runtime::WaitLoop loop(context_, reason);
  while (!ready()) {
    if (start_what_may()) {
      loop.progressed();
      continue;
    }
    loop.pause();
  }
}

}  // namespace partita::execution
