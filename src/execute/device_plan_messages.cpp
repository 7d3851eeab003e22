#include "execute/device_plan_messages.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "device/stream_work.hpp"
#include "plan/cost.hpp"
#include "runtime/wait.hpp"

namespace partita {
namespace {

using Side = MessageUse::Side;

constexpr std::int64_t most_events = 256;

std::unique_ptr<EventRing> make_ring(ContextState& context, std::int64_t moves) {
  return std::make_unique<EventRing>(*context.device,
                                     static_cast<int>(std::clamp<std::int64_t>(moves, 1, most_events)));
}

}  // namespace

DevicePlanMessages::DevicePlanMessages(ContextState& context, const Plan& plan, const MessageUse& use)
    : context_(context),
      plan_(plan),
      use_(use),
      mail_(context, plan),
      event_(plan.steps.size(), 0),
      waits_(plan.steps.size(), false) {
  std::int64_t outward = 0, inward = 0;
  std::size_t sends = 0, receives = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepKind kind = plan.steps[i].kind;
    if (kind == StepKind::send) ++sends;
    if (kind == StepKind::receive) ++receives;
    if (!is_message(kind) && use.sides[i] == Side::out) ++outward;
    if (!is_message(kind) && use.sides[i] == Side::in) ++inward;
  }
  context.device->use();
  packed_ = make_ring(context, use.apart ? outward : outward + inward);
  if (use.apart) unpacked_ = make_ring(context, inward);
  sends_.entries.reserve(sends);
  receives_.entries.reserve(receives);
  mail_.meanwhile([this] { return start_what_may(); });
}

DevicePlanMessages::~DevicePlanMessages() {
  await_streams(context_, plan_.operation, [this] { return streams_are_done(); });
}

bool DevicePlanMessages::streams_are_done() {
  const auto is_done = [](EventRing& series) { return series.reached(series.last()); };
  return is_done(events(Side::out)) && is_done(events(Side::in));
}

EventRing& DevicePlanMessages::events(Side side) {
  return side == Side::in && unpacked_ ? *unpacked_ : *packed_;
}

DevicePlanMessages::List& DevicePlanMessages::list_of(std::size_t step) {
  return plan_.steps[step].kind == StepKind::send ? sends_ : receives_;
}

void DevicePlanMessages::begin(const Executed& execution) {
  unpacked_before_ = events(Side::in).last();
  for (List* const list : {&sends_, &receives_}) {
    list->entries.clear();
    list->next = 0;
  }
  mail_.begin(execution);
}

void DevicePlanMessages::moved(std::size_t step, Stream stream) {
  EventRing& series = events(use_.sides[step]);
  if (!series.has_room()) wait_for_streams([&] { return series.has_room(); });
  event_[step] = series.put(stream);
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
  if (plan_.steps[step].kind == StepKind::receive && !mail_.may_receive(step)) return false;
  const int move = use_.after_move[step];
  if (move >= 0) return events(use_.sides[step]).reached(event_[static_cast<std::size_t>(move)]);
  return plan_.steps[step].kind == StepKind::send || events(Side::in).reached(unpacked_before_);
}

bool DevicePlanMessages::start_what_may() {
  bool started = false;
  for (List* const list : {&receives_, &sends_}) {
    for (; !list->empty() && may_start(list->front().step); ++list->next) {
      const auto& [step, memory] = list->front();
      if (list == &sends_) {
        mail_.send(step, memory);
      } else {
        mail_.receive(step, memory);
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

void DevicePlanMessages::end() {
  if (!sends_.empty() || !receives_.empty()) {
    wait_for_streams([&] { return sends_.empty() && receives_.empty(); });
  }
  mail_.end();
}

/// Streams may wait for the signals of neighbours.
template <class Ready>
void DevicePlanMessages::wait_for_streams(Ready&& ready) {
  const WaitReason reason{plan_.operation, [] { return std::string("copies to and from messages"); }, -1,
                          [this] { return others_of_the_node(context_); }, mail_.patience()};
  WaitLoop loop(context_, reason);
  while (!ready()) {
    if (start_what_may()) {
      loop.progressed();
      continue;
    }
    loop.pause();
  }
}

}  // namespace partita
