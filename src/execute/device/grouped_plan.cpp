#include "execute/device/grouped_plan.hpp"

#include "base/check.hpp"
#include "device/stream_work.hpp"
#include "execute/device/put_move.hpp"
#include "execute/lower.hpp"
#include "execute/step_clock.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

constexpr int of_groups = 0, of_packs = 1, of_unpacks = 2;  // lines

/// From one operand to the other, by no message.
bool is_own(const Plan& plan, const Step& step) {
  return step.kind == StepKind::copy && !planning::is_scratch(plan, step.from) &&
         !planning::is_scratch(plan, step.to);
}

}  // namespace

bool GroupedPlan::suits(const ContextState& context, const Plan& plan) {
  return plan.grouped && context.device && context.device_group() != nullptr;
}

GroupedPlan::GroupedPlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace)
    : Executor(context, std::move(plan), MemorySpace::device, workspace),
      touched_(planning::touched_by_steps(plan_)),
      message_use_(find_message_use(plan_, touched_)),
      closing_(plan_.steps.size(), -1),
      lanes_(plan_.steps.size(), -1),
      use_(context, plan_.operation),
      works_(context, plan_, touched_, use_, memory_.behind_scratch()) {
  works_.join_ended(touched_);
  find_groups();
  greeted_ = runtime::greeted(context, peers_of(plan_, StepKind::receive), peers_of(plan_, StepKind::send));
  for (auto* const parts : {&sent_, &received_}) parts->reserve(plan_.steps.size());
  messages_.reserve(plan_.steps.size());
}

/// Rounds come one after the other (see Step::round), and no step waits for part of one.
void GroupedPlan::find_groups() {
  constexpr std::int64_t small = std::int64_t{1} << 20;
  int last = -1;  // message
  int groups = 0;
  for (std::size_t i = plan_.steps.size(); i-- > 0;) {
    const Step& step = plan_.steps[i];
    const bool packs = message_use_.sides[i] == MessageUse::Side::out;
    if (planning::is_copy(step.kind)) lanes_[i] = packs ? of_packs : of_unpacks;
    if (step.kind == StepKind::compute) lanes_[i] = of_packs;  // what it makes is packed next
    if (!planning::is_message(step.kind)) continue;
    if (last < 0 || plan_.steps[static_cast<std::size_t>(last)].round != step.round) {
      last = static_cast<int>(i);
      lanes_[i] = of_groups;
      ++groups;
    }
    closing_[i] = last;
  }
  // One small group has nothing to overlap with.
  may_overlap_ = message_use_.apart && (groups > 1 || message_use_.largest > small);
  std::int64_t stays = 0, leaves = 0;
  for (const Step& step : plan_.steps) {
    if (step.kind == StepKind::send) leaves += step.bytes;
    if (is_own(plan_, step)) stays += planning::moved_bytes(plan_, step);
  }
  own_has_time_ = stays <= leaves;
}

/// What stays on the rank is copied concurrently with the groups, whose kernels would else wait for a place.
devices::CopyScope GroupedPlan::scope(std::size_t index) const {
  const bool beside_groups = order_ != nullptr && own_has_time_ && is_own(plan_, plan_.steps[index]);
  return beside_groups ? devices::CopyScope::background : devices::CopyScope::inside;
}

void GroupedPlan::relower() {
  moves_ = lower_moves(plan_, memory_.strides());
  works_.lower(memory_.strides());
  direct_ = find_direct_messages(plan_, touched_, closing_, moves_);
  if (!may_overlap_) return;
  std::vector<planning::Touched> meeting = touched_in_groups(false);
  planning::join_operands(plan_, meeting);
  context_.device->use();
  events_.emplace(*context_.device,
                  std::array{planning::find_dependencies(plan_, touched_in_groups(true), lanes_),
                             planning::find_dependencies(plan_, meeting, lanes_)},
                  lanes_, of_unpacks + 1);
}

/// A group touches what its messages do, and those that need not be packed or unpacked what their copies
/// would.
std::vector<planning::Touched> GroupedPlan::touched_in_groups(bool direct) const {
  std::vector<planning::Touched> touched(touched_.size());
  const auto add = [](std::vector<planning::MemoryRange>& to,
                      const std::vector<planning::MemoryRange>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (closing_[i] < 0) {
      if (!direct || !direct_.spared[i]) touched[i] = touched_[i];
      continue;
    }
    const bool packed = !direct || direct_.copy[i] == DirectMessages::packed;
    const planning::Touched& one = touched_[packed ? i : direct_.copy[i]];
    planning::Touched& group = touched[static_cast<std::size_t>(closing_[i])];
    plan_.steps[i].kind == StepKind::send ? add(group.read, one.read) : add(group.written, one.written);
  }
  return touched;
}

void GroupedPlan::run(const Execution& execution) {
  const auto& [announced, parameters, stream, captured, clock] = execution;
  if (!captured) runtime::greetings_of(context_).greet(announced, greeted_, plan_.operation);
  parameters_ = &parameters;
  captured_ = captured;
  clock_ = clock;
  open_lines(stream, captured);
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    const bool is_spared = is_direct_ && direct_.spared[i];
    if (planning::is_copy(step.kind) && !is_spared) run_move(i);
    if (step.kind == StepKind::compute) run_work(i);
    if (planning::is_message(step.kind)) put_message(i);
    if (closing_[i] == static_cast<int>(i)) put_group(i);
  }
  join_lines();
  use_.note(stream, captured);
}

void GroupedPlan::put_message(std::size_t index) {
  const Step& step = plan_.steps[index];
  const bool sends = step.kind == StepKind::send;
  const Place& place = sends ? step.from : step.to;
  char* memory = memory_.address(place) + place.offset;
  const std::size_t copy = direct_.copy[index];
  if (is_direct_ && copy != DirectMessages::packed) {
    const kernels::StridedCopy& run = moves_[copy].front();
    memory = sends ? memory_.address(plan_.steps[copy].from) + run.from_offset
                   : memory_.address(plan_.steps[copy].to) + run.to_offset;
  }
  (sends ? sent_ : received_).push_back({step.peer, memory, step.bytes});
  messages_.push_back(index);
}

void GroupedPlan::open_lines(Stream stream, bool captured) {
  const bool meet = memory_.operands_meet();
  order_ = captured || !events_ ? nullptr : &*events_;
  // NCCL registers what it uses in graphs, and with memory of the heap that has hung.
  is_direct_ = !captured && !meet;
  lines_.fill(stream);
  if (order_ == nullptr) return;
  order_->begin(meet);
  for (const int number : {of_packs, of_unpacks}) {
    Stream& line = lines_.at(static_cast<std::size_t>(number));
    line = context_.device->lane(number - 1);
    context_.device->order(stream, line);
  }
}

void GroupedPlan::join_lines() {
  if (order_ == nullptr) return;
  for (const int number : {of_packs, of_unpacks}) {
    context_.device->order(lines_.at(static_cast<std::size_t>(number)), lines_[of_groups]);
  }
}

template <class Work>
void GroupedPlan::put(std::size_t index, std::span<const std::size_t> steps, const Work& work) {
  const Stream stream = lines_.at(static_cast<std::size_t>(lanes_[index]));
  if (order_ != nullptr) order_->hold(index, stream);
  timed_in_stream(clock_, *context_.device, steps, lanes_[index], stream, [&] { work(stream); });
  if (order_ != nullptr) order_->record(index, stream);
}

void GroupedPlan::run_move(std::size_t index) {
  put(index, std::array{index}, [&](Stream stream) {
    put_move(*context_.device, plan_, plan_.steps[index], moves_[index], memory_, scope(index), stream);
  });
}

void GroupedPlan::run_work(std::size_t index) {
  put(index, std::array{index},
      [&](Stream stream) { works_.enqueue(plan_.steps[index], memory_, *parameters_, stream, captured_); });
}

void GroupedPlan::put_group(std::size_t index) {
  put(index, messages_, [&](Stream stream) { context_.device_group()->exchange(sent_, received_, stream); });
  sent_.clear();
  received_.clear();
  messages_.clear();
}

}  // namespace partita::execution
