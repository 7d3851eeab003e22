#include "execute/device/device_plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "base/check.hpp"
#include "execute/device/put_move.hpp"
#include "plan/channels.hpp"
#include "plan/cost.hpp"
#include "plan/lanes.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

/// The lines of a plan: in its order, what leaves, what arrives, the signals of what has left; and what the
/// host gives out in the order of the plan.
constexpr int leaving = 1, arriving = 2, signalling = 3, lines = 4, sends = 4, receives = 5;

/// What works for messages has a line for each side, where they are apart. What is put into peers' memory
/// leaves, too, and without messages what this rank keeps of that has the other line, and the signals of it
/// have one, so that copies follow each other. So do slots that are filled for peers.
/// Where ranks share a device, nothing is gained by panels that are factorized concurrently.
std::vector<int> lanes_of(const Plan& plan, const MessageUse& use, bool shares_device) {
  std::vector<int> lanes;
  const std::vector<int> planned = planning::lanes_of(plan);
  const bool messages = std::ranges::any_of(plan.steps, planning::is_message, &Step::kind);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepKind kind = plan.steps[i].kind;
    if (planning::is_message(kind)) {
      lanes.push_back(kind == StepKind::send ? sends : receives);
    } else if (kind == StepKind::finish) {
      lanes.push_back(-1);
    } else if (planned[i] == planning::signalling) {
      lanes.push_back(messages ? leaving : signalling);
    } else if (kind == StepKind::compute && planned[i] == planning::pushing && shares_device) {
      lanes.push_back(0);
    } else if (planned[i] == planning::pushing) {
      lanes.push_back(leaving);
    } else if (planned[i] == planning::keeping && !messages) {
      lanes.push_back(arriving);
    } else {
      lanes.push_back(use.apart ? static_cast<int>(use.sides[i]) : 0);
    }
  }
  return lanes;
}

int last_line(const std::vector<int>& lanes) {
  int last = 0;
  for (const int lane : lanes) {
    if (lane < lines) last = std::max(last, lane);
  }
  return last;
}

const Place& message_place(const Step& step) {
  return step.kind == StepKind::send ? step.from : step.to;
}

/// Of messages, too.
bool uses_private_memory(const Plan& plan) {
  return std::ranges::any_of(plan.buffers, [](const Buffer& buffer) {
    return buffer.kind == BufferKind::scratch && buffer.bytes > 0;
  });
}

/// The plan itself, if its steps are such that devices offer.
Plan for_device(Plan plan) {
  for (const Step& step : plan.steps) {
    if (!planning::is_message(step.kind)) continue;
    check<UnsupportedError>(planning::buffer_of(plan, message_place(step)).kind == BufferKind::scratch,
                            "{}: messages are sent from private scratch only", plan.operation);
  }
  return plan;
}

}  // namespace

DevicePlan::InPackets::InPackets(ContextState& context, const planning::PacketSteps& of_plan,
                                 const std::string& operation)
    : first(of_plan.first),
      behind(of_plan.behind),
      steps(of_plan.behind - of_plan.first),
      source(of_plan.source),
      destination(of_plan.destination),
      runner(context, operation, of_plan.exchange, devices::PacketSlots::most_given_at_once) {
  std::iota(steps.begin(), steps.end(), of_plan.first);
}

DevicePlan::InLaunches::InLaunches(ContextState& context, const Plan& plan,
                                   const planning::SolveSteps& of_plan)
    : first(of_plan.first),
      behind(of_plan.behind),
      after(of_plan.after),
      behind_after(of_plan.behind_after),
      steps(of_plan.behind - of_plan.first),
      steps_after(of_plan.behind_after - of_plan.after),
      waited(static_cast<std::size_t>(of_plan.ranks)),
      runner(context, plan, of_plan) {
  std::iota(steps.begin(), steps.end(), first);
  std::iota(steps_after.begin(), steps_after.end(), after);
}

DevicePlan::DevicePlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace,
                       std::span<const planning::PacketSteps> packets,
                       const std::optional<planning::SolveSteps>& solve)
    : DevicePlan(context, plan, planning::touched_by_steps(plan), workspace, packets, solve) {}

DevicePlan::DevicePlan(ContextState& context, Plan& plan, std::vector<planning::Touched> touched,
                       std::optional<std::int64_t> workspace, std::span<const planning::PacketSteps> packets,
                       const std::optional<planning::SolveSteps>& solve)
    : Executor(context, for_device(std::move(plan)),
               context.device_messages_direct ? MemorySpace::device : MemorySpace::host, workspace),
      message_use_(find_message_use(plan_, touched)),
      lanes_(lanes_of(plan_, message_use_, context.device_sharers > 1)),
      message_memory_(context, plan_, message_use_),
      mail_(context, plan_),
      use_(context, plan_.operation),
      works_(context, plan_, touched, use_, memory_.behind_scratch()),
      has_private_memory_(uses_private_memory(plan_)) {
  works_.join_ended(touched);
  for (const planning::PacketSteps& steps : packets) packets_.emplace_back(context, steps, plan_.operation);
  if (solve) solve_.emplace(context, plan_, *solve);
  if (!packets_.empty() || (solve_ && solve_->runner.offered())) std::ranges::fill(lanes_, 0);
  has_messages_ = std::ranges::any_of(plan_.steps, planning::is_message, &Step::kind);
  if (!has_messages_ && last_line(lanes_) == 0) return;
  planning::Dependencies apart = planning::find_dependencies(plan_, touched, lanes_);
  planning::join_operands(plan_, touched);
  context.device->use();
  events_.emplace(*context.device,
                  std::array{std::move(apart), planning::find_dependencies(plan_, touched, lanes_)}, lanes_,
                  lines);
}

void DevicePlan::connect() {
  memory_.connect();
  const bool may = context_.options.copy_way == CopyWay::automatic;
  std::erase_if(packets_, [&](InPackets& part) { return !part.runner.suits_all_ranks(may); });
  for (InPackets& part : packets_) part.runner.connect();
  if (solve_ && !solve_->runner.suits_all_ranks()) solve_.reset();
  count_signals();
  const bool both_sides = has_messages_ && message_use_.apart;
  lines_.resize(static_cast<std::size_t>(std::max(last_line(lanes_), both_sides ? arriving : 0)) + 1);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    lines_[i].used = both_sides || std::ranges::find(lanes_, static_cast<int>(i)) != lanes_.end();
  }
  for (Line& line : lines_) {
    line.pending.reserve(plan_.steps.size());
    line.pending_steps.reserve(plan_.steps.size());
  }
}

// Waits count the signals since the plan began. Those of steps in packets never come; all of them would have
// been waited for there, since a redistribution waits for all its signals. So do the steps of a solve, in
// whose place each rank grants all others access once.
void DevicePlan::count_signals() {
  signals_.resize(plan_.steps.size());
  std::map<std::pair<int, int>, std::int64_t> in_plan, missing;  // by peer and channel
  constexpr int grants = static_cast<int>(planning::Channel::grant);
  auto packets = packets_.begin();
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    while (packets != packets_.end() && i >= packets->behind) ++packets;
    const Step& step = plan_.steps[i];
    if (solve_ && i == solve_->first) {
      for (int peer = 0; peer < std::ssize(solve_->waited); ++peer)
        solve_->waited[static_cast<std::size_t>(peer)] = in_plan[{peer, grants}];
    }
    if (solve_ && i == solve_->behind) {
      for (int peer = 0; peer < std::ssize(solve_->waited); ++peer) --missing[{peer, grants}];
    }
    if (step.kind != StepKind::wait) continue;
    const std::pair from(step.peer, static_cast<int>(step.channel));
    const std::int64_t more = std::max<std::int64_t>(step.count - in_plan[from], 0);
    in_plan[from] += more;
    const bool in_packets = packets != packets_.end() && i >= packets->first;
    const bool in_launches = solve_ && i >= solve_->first && i < solve_->behind;
    if (in_packets || in_launches) missing[from] += more;
    signals_[i] = step.count - missing[from];
  }
}

/// The same on every rank: where there are nodes, some rank has messages.
bool DevicePlan::may_be_captured() const {
  return context_.device_topology.node_count() == 1 && !has_messages_;
}

void DevicePlan::relower() {
  moves_ = lower_moves(plan_, memory_.strides());
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (planning::is_copy(plan_.steps[i].kind) && message_use_.sides[i] != MessageUse::Side::none) {
      message_memory_.lower(i, moves_[i]);
    }
  }
  works_.lower(memory_.strides());
  for (InPackets& part : packets_) {
    part.runner.lower(memory_.strides()[static_cast<std::size_t>(part.source)],
                      memory_.strides()[static_cast<std::size_t>(part.destination)]);
  }
}

void DevicePlan::run(const Execution& execution) {
  parameters_ = &execution.parameters;
  clock_ = execution.clock;
  captured_ = execution.captured;
  if (captured_) context_.flags->count_on_device();
  in_one_line_ = captured_ || lines_.size() == 1;
  lines_[0].stream = execution.stream;
  if (events_) events_->begin(memory_.operands_meet());
  if (has_messages_) {
    mail_.begin(execution.announced, *events_);
    ahead_->meanwhile([this] { return mail_.start_what_may(); });
  }
  run_in_order();
  if (has_messages_) mail_.end(lines_[message_use_.apart ? arriving : 0].stream);
  if (has_private_memory_ || works_.workspace_bytes() > 0) use_.note(execution.stream, captured_);
  context_.flags->advance();
}

void DevicePlan::run_in_order() {
  open_lines();
  bool solves = solve_.has_value();  // also in the place of no steps
  auto packets = packets_.begin();
  for (std::size_t i = 0; i <= plan_.steps.size();) {
    if (packets != packets_.end() && packets->first == i) {
      exchange(*packets);
      i = packets++->behind;
    } else if (solves && solve_->first == i) {
      solve(*solve_);
      i = solve_->behind;
      solves = false;
    } else if (solve_ && !solve_->steps_after.empty() && solve_->after == i) {
      exchange_after(*solve_);
      i = solve_->behind_after;
    } else if (i < plan_.steps.size()) {
      run_step(i++);
    } else {
      break;
    }
  }
  join_lines();
  flush(lines_[0]);
}

void DevicePlan::exchange(InPackets& part) {
  const auto local = [this](int buffer) { return memory_.address({buffer, plan_.rank, 0, {}}); };
  Line& line = lines_[0];
  flush(line);
  timed(part.steps, line,
        [&] { part.runner.exchange(local(part.source), local(part.destination), line.stream, captured_); });
}

void DevicePlan::solve(InLaunches& part) {
  Line& line = lines_[0];
  flush(line);
  timed(part.steps, line, [&] { part.runner.run(memory_, part.waited, line.stream); });
}

void DevicePlan::exchange_after(InLaunches& part) {
  Line& line = lines_[0];
  flush(line);
  timed(part.steps_after, line, [&] { part.runner.exchange_rows(memory_, line.stream); });
}

template <class Work>
void DevicePlan::timed(std::span<const std::size_t> steps, const Line& line, const Work& work) {
  timed_in_stream(clock_, *context_.device, steps, static_cast<int>(&line - lines_.data()), line.stream,
                  work);
}

void DevicePlan::open_lines() {
  current_ = &lines_[0];
  if (in_one_line_) return;
  for (std::size_t i = 1; i < lines_.size(); ++i) {
    if (!lines_[i].used) continue;
    lines_[i].stream = context_.device->lane(static_cast<int>(i) - 1);
    context_.device->order(lines_[0].stream, lines_[i].stream);
  }
}

/// Flags are given out before those of other lines that come behind them: streams that share a queue of the
/// device then stand in the order of the plan, in which no wait is before what lets it go.
void DevicePlan::follow(std::size_t index) {
  if (in_one_line_) return;
  if (Line& line = line_of(index); &line != current_) {
    flush(*current_);
    current_ = &line;
  }
  if (events_->after(index).empty()) return;
  flush(*current_);
  events_->hold(index, current_->stream);
}

/// Who waits for it may do so now.
void DevicePlan::passed(std::size_t index, const Line& line) {
  if (events_ && !(in_one_line_ && !has_messages_)) events_->record(index, line.stream);
}

/// The first line continues after the others.
void DevicePlan::join_lines() {
  if (in_one_line_) return;
  for (std::size_t i = 1; i < lines_.size(); ++i) {
    if (!lines_[i].used) continue;
    flush(lines_[i]);
    context_.device->order(lines_[i].stream, lines_[0].stream);
  }
}

void DevicePlan::flush(Line& line) {
  if (line.pending.empty()) return;
  timed(line.pending_steps, line, [&] { context_.device->flags(line.pending, line.stream); });
  for (const std::size_t step : line.pending_steps) passed(step, line);
  line.pending.clear();
  line.pending_steps.clear();
}

void DevicePlan::put_flag(std::size_t index, const devices::FlagOperation& operation) {
  Line& line = line_of(index);
  line.pending.push_back(operation);
  line.pending_steps.push_back(index);
}

/// The line of signals follows all of the others by events. These make visible what engines have
/// copied; of what kernels store into peers' memory no more is known than that a fence does.
void DevicePlan::signal(std::size_t index) {
  const Step& step = plan_.steps[index];
  devices::FlagOperation write = context_.flags->signal(step.peer, step.channel);
  const bool by_events = !in_one_line_ && lanes_[index] == signalling && !works_.store_to_peers();
  write.fenced = !planning::is_about_reads(step.channel) && !by_events;
  put_flag(index, write);
}

void DevicePlan::run_step(std::size_t index) {
  const StepKind kind = plan_.steps[index].kind;
  const bool on_host = planning::is_message(kind) || kind == StepKind::finish;
  if (clock_ != nullptr && on_host) clock_->begin(index);
  give_step(index);
  if (clock_ != nullptr && on_host) clock_->end(index);
}

void DevicePlan::give_step(std::size_t index) {
  const Step& step = plan_.steps[index];
  finish_messages(step);
  switch (step.kind) {
    case StepKind::copy:
    case StepKind::accumulate:
    case StepKind::fill:
      follow(index);
      flush(line_of(index));
      return timed(std::array{index}, line_of(index), [&] { run_move(index, line_of(index)); });
    case StepKind::send:
      return mail_.send(index, memory_.address(step.from) + step.from.offset);
    case StepKind::receive:
      return mail_.receive(index, memory_.address(step.to) + step.to.offset);
    case StepKind::signal:
      follow(index);
      return signal(index);
    case StepKind::wait:
      follow(index);
      return put_flag(index, context_.flags->wait(step.peer, step.channel, signals_[index]));
    case StepKind::compute:
      follow(index);
      return run_work(index, line_of(index));
    case StepKind::finish:
      return;
  }
}

// The host waits here: what the peer needs to go on has to be on its way.
void DevicePlan::finish_messages(const Step& step) {
  if (step.after.empty()) return;
  for (Line& line : lines_) flush(line);
  for (const int message : step.after) mail_.finish(static_cast<std::size_t>(message));
}

/// What is sent or kept concurrently with computation leaves most of the device to that. What fills a slot
/// is soon done.
devices::CopyScope DevicePlan::scope_in_line(std::size_t index) const {
  const devices::CopyScope alone = scope_of(plan_, plan_.steps[index]);
  if (!in_one_line_ && lanes_[index] == leaving)
    return alone == devices::CopyScope::inside ? alone : devices::CopyScope::beside;
  const bool panel = planning::buffer_of(plan_, plan_.steps[index].to).filled_beside;
  if (!in_one_line_ && lanes_[index] == arriving)
    return panel ? devices::CopyScope::beside : devices::CopyScope::background;
  return alone;
}

void DevicePlan::run_move(std::size_t index, Line& line) {
  const Step& step = plan_.steps[index];
  if (message_use_.sides[index] != MessageUse::Side::none && step.kind != StepKind::fill) {
    message_memory_.move(index, moves_[index], memory_, line.stream);
  } else {
    put_move(*context_.device, plan_, step, moves_[index], memory_, scope_in_line(index), line.stream);
  }
  passed(index, line);
}

void DevicePlan::run_work(std::size_t index, Line& line) {
  const Step& step = plan_.steps[index];
  flush(line);
  timed(std::array{index}, line,
        [&] { works_.enqueue(step, memory_, *parameters_, line.stream, captured_); });
  passed(index, line);
}

}  // namespace partita::execution
