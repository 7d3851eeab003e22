#include "execute/grouped_plan.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "device/stream_work.hpp"
#include "execute/lower.hpp"
#include "execute/put_move.hpp"
#include "execute/step_clock.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"
#include "runtime/greetings.hpp"

namespace partita {
namespace {

constexpr std::size_t of_groups = 0;
constexpr std::size_t of_packs = 1;
constexpr std::size_t of_unpacks = 2;

}  // namespace

bool GroupedPlan::suits(const ContextState& context, const Plan& plan) {
  return plan.grouped && context.device && context.device_group() != nullptr;
}

GroupedPlan::GroupedPlan(ContextState& context, Plan plan)
    : Executor(context, std::move(plan), MemorySpace::device),
      moves_(plan_.steps.size()),
      message_use_(find_message_use(plan_)),
      line_order_(plan_,
                  [this](int before, int after) {
                    context_.device->order(lines_[static_cast<std::size_t>(before)].stream,
                                           lines_[static_cast<std::size_t>(after)].stream);
                  }),
      awaited_(plan_.steps.size(), 0),
      closes_(plan_.steps.size(), false) {
  find_groups();
  senders_ = peers_of(plan_, StepKind::receive);
  receivers_ = peers_of(plan_, StepKind::send);
  for (auto* const parts : {&sent_, &received_}) parts->reserve(plan_.steps.size());
  messages_.reserve(plan_.steps.size());
}

GroupedPlan::~GroupedPlan() {
  await_streams(context_, plan_.operation, [this] { return !end_ || end_->reached(); });
}

/// Rounds come one after the other (see Step::round), and no step waits for part of one.
void GroupedPlan::find_groups() {
  std::vector<std::size_t> group_of(plan_.steps.size(), 0);
  std::size_t last = plan_.steps.size();  // message
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    for (const int message : step.after) {
      awaited_[i] = std::max(awaited_[i], group_of[static_cast<std::size_t>(message)]);
    }
    if (!is_message(step.kind)) continue;
    if (last == plan_.steps.size() || plan_.steps[last].round != step.round) {
      ++groups_;
    } else {
      closes_[last] = false;
    }
    group_of[i] = groups_;
    closes_[i] = true;
    last = i;
  }
}

void GroupedPlan::relower() {
  moves_ = lower_moves(plan_, memory_.strides());
  direct_ = find_direct_messages(plan_, message_use_, moves_);
}

void GroupedPlan::run(const Execution& execution) {
  const auto& [announced, parameters, stream, captured, clock] = execution;
  if (!captured) greetings_of(context_).greet(announced, senders_, receivers_, true, plan_.operation);
  clock_ = clock;
  open_lines(stream, captured);
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (is_copy(step.kind)) run_move(i);
    if (is_message(step.kind)) put_message(i);
    if (closes_[i]) put_group();
  }
  join_lines();
  if (captured) return;
  if (!end_) end_ = context_.device->event();
  end_->record(stream);
}

void GroupedPlan::put_message(std::size_t index) {
  const Step& step = plan_.steps[index];
  const bool sends = step.kind == StepKind::send;
  const Place& place = sends ? step.from : step.to;
  char* memory = memory_.address(place) + place.offset;
  const std::size_t copy = direct_.copy[index];
  if (is_direct_ && copy != DirectMessages::packed) {
    const StridedCopy& run = moves_[copy].front();
    memory = sends ? memory_.address(plan_.steps[copy].from) + run.from_offset
                   : memory_.address(plan_.steps[copy].to) + run.to_offset;
  }
  (sends ? sent_ : received_).push_back({step.peer, memory, step.bytes});
  messages_.push_back(index);
}

/// One small group has nothing to overlap with.
void GroupedPlan::open_lines(Stream stream, bool captured) {
  constexpr std::int64_t small = std::int64_t{1} << 20;
  one_line_ = captured || !message_use_.apart || (groups_ < 2 && message_use_.largest <= small);
  // NCCL registers what it uses in graphs, and with memory of the heap that has hung.
  is_direct_ = !captured && !memory_.operands_meet();
  lines_.fill({stream});
  put_ = 0;
  if (one_line_) return;
  for (const std::size_t number : {of_packs, of_unpacks}) {
    Line& line = lines_[number];
    line.stream = context_.device->lane(static_cast<int>(number) - 1);
    context_.device->order(stream, line.stream);
  }
  line_order_.begin(memory_.operands_meet());
}

void GroupedPlan::join_lines() {
  if (one_line_) return;
  for (const std::size_t number : {of_packs, of_unpacks}) {
    context_.device->order(lines_[number].stream, lines_[of_groups].stream);
  }
}

void GroupedPlan::run_move(std::size_t index) {
  const Step& step = plan_.steps[index];
  const bool packs = message_use_.sides[index] == MessageUse::Side::out;
  Line& line = lines_[packs ? of_packs : of_unpacks];
  wait_for_groups(line, awaited_[index]);
  if (!one_line_) line_order_.move(step, number_of(line));
  if (!is_direct_ || !direct_.spared[index]) {
    timed_in_stream(clock_, *context_.device, std::array{index}, number_of(line), line.stream, [&] {
      put_move(*context_.device, plan_, step, moves_[index], memory_, true, line.stream);
    });
  }
  line.is_ahead = line.is_ahead || message_use_.sides[index] != MessageUse::Side::none;
}

/// The other lines first come to where this group begins. So what they are given next waits for the groups
/// before, which it needs, and for what is packed for this one, which comes first, but not for this one.
void GroupedPlan::put_group() {
  Line& own = lines_[of_groups];
  for (const std::size_t number : {of_packs, of_unpacks}) {
    Line& line = lines_[number];
    if (!one_line_ && line.is_ahead) context_.device->order(line.stream, own.stream);
    line.is_ahead = false;
  }
  for (const std::size_t number : {of_packs, of_unpacks}) {
    Line& line = lines_[number];
    if (!one_line_) context_.device->order(own.stream, line.stream);
    line.groups = put_;
  }
  timed_in_stream(clock_, *context_.device, messages_, number_of(own), own.stream,
                  [&] { context_.device_group()->exchange(sent_, received_, own.stream); });
  ++put_;
  sent_.clear();
  received_.clear();
  messages_.clear();
}

void GroupedPlan::wait_for_groups(Line& line, std::size_t count) {
  if (one_line_ || line.groups >= count) return;
  context_.device->order(lines_[of_groups].stream, line.stream);
  line.groups = put_;
}

}  // namespace partita
