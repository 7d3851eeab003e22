#include "plan/verify/execution.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "plan/cost.hpp"
#include "plan/dependencies.hpp"
#include "plan/describe.hpp"
#include "plan/lanes.hpp"
#include "plan/moves.hpp"
#include "plan/touched.hpp"
#include "plan/verify/slots.hpp"

namespace partita::verification {

std::int64_t Memory::capacity(int rank, int buffer) const {
  return plans_.plan(rank).buffers[static_cast<std::size_t>(buffer)].bytes / plans_.item(buffer);
}

std::vector<std::int64_t> Memory::slots(const Place& place, const Region& region, std::int64_t item) const {
  const Buffer& buffer = plans_.buffer(place.buffer);
  if (!buffer.operand) {
    const std::int64_t unit = plans_.item(place.buffer), first = place.offset / unit;
    const std::int64_t step = std::max<std::int64_t>(item / unit, 1);
    const std::int64_t bytes = planning::packed_bytes(place, region, step * unit);
    check<Fault>(first + bytes / unit <= capacity(place.rank, place.buffer),
                 "{} of rank {} ends before byte {}", buffer.name, place.rank, place.offset + bytes);
    return packed(region, place, first, step);
  }
  Operand dense = *buffer.operand;
  dense.dense = true;
  const Region owned = dense.layout.region(place.rank);
  if (!is_inside(region, owned)) {
    throw Fault(fmt::format("rank {} does not own the region in {}: it owns {}", place.rank, buffer.name,
                            to_string(owned)));
  }
  return positions(region, owned, dense.local_strides(place.rank));
}

InFlight Memory::range(const Place& place, std::int64_t bytes, bool is_receive, int step) const {
  const std::int64_t item = plans_.item(place.buffer);
  const std::int64_t first = place.offset / item, last = first + bytes / item;
  check<Fault>(last <= capacity(place.rank, place.buffer), "{} of rank {} ends before byte {}",
               plans_.buffer(place.buffer).name, place.rank, place.offset + bytes);
  return {place.buffer, first, last, is_receive, step};
}

void Memory::check_quiet(const Place& place, std::int64_t first, std::int64_t last, bool is_write) const {
  for (const InFlight& message : in_flight_[static_cast<std::size_t>(place.rank)]) {
    const bool conflicts = is_write || message.is_receive;
    const bool overlaps = message.buffer == place.buffer && first < message.last && message.first < last;
    check<Fault>(!conflicts || !overlaps, "{} {} of rank {} while the {} of its step {} is in flight",
                 is_write ? "overwrites" : "reads", plans_.buffer(place.buffer).name, place.rank,
                 message.is_receive ? "receive" : "send", message.step);
  }
}

void Memory::check_quiet(const Place& place, const std::vector<std::int64_t>& slots, bool is_write) const {
  if (slots.empty() || plans_.buffer(place.buffer).operand) return;
  const auto [first, last] = std::minmax_element(slots.begin(), slots.end());
  check_quiet(place, *first, *last + 1, is_write);
}

void Memory::start(int rank, const InFlight& message) {
  in_flight_[static_cast<std::size_t>(rank)].push_back(message);
}

void Memory::finish(int rank, int step) {
  std::erase_if(in_flight_[static_cast<std::size_t>(rank)],
                [step](const InFlight& message) { return message.step == step; });
}

// --- one run

Execution::Execution(const Plans& plans, Pace pace, Faults& faults)
    : plans_(plans), pace_(pace), faults_(faults), memory_(plans), progress_(plans.plans.size()) {
  for (int rank = 0; rank < plans_.ranks(); ++rank) divide(rank);
}

void Execution::divide(int rank) {
  const Plan& plan = plans_.plan(rank);
  Progress& made = progress(rank);
  const bool messages = std::ranges::any_of(plan.steps, planning::is_message, &Step::kind);
  const std::vector<int> lanes =
      messages ? std::vector<int>(plan.steps.size(), planning::in_order) : planning::lanes_of(plan);
  const bool apart = std::ranges::any_of(lanes, [](int lane) { return lane != planning::in_order; });
  made.after.resize(lanes.size());
  if (apart) made.after = planning::find_dependencies(plan, planning::touched_by_steps(plan), lanes).after;
  made.lanes.resize(planning::lane_count);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    made.lanes[static_cast<std::size_t>(lanes[i])].push_back(static_cast<int>(i));
  }
  made.next.resize(made.lanes.size());
  made.done.resize(plan.steps.size());
  made.left = plan.steps.size();
}

const Step& Execution::step(int rank) const {
  return plans_.plan(rank).steps[static_cast<std::size_t>(progress(rank).current)];
}

bool Execution::ended(int rank) const {
  return progress(rank).left == 0;
}

bool Execution::all_ended() const {
  for (int rank = 0; rank < plans_.ranks(); ++rank) {
    if (!ended(rank)) return false;
  }
  return true;
}

bool Execution::advance(int rank) {
  Progress& own = progress(rank);
  if (own.left == 0) return false;
  own.began = true;
  const std::size_t lanes = own.lanes.size();
  const std::size_t first = pace_.lanes == LaneOrder::by_turns ? own.turn++ : 0;
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::size_t lane = pace_.lanes == LaneOrder::last ? lanes - 1 - i : (first + i) % lanes;
    if (advance(rank, lane)) return true;
  }
  return false;
}

bool Execution::advance(int rank, std::size_t lane) {
  Progress& own = progress(rank);
  if (own.next[lane] == own.lanes[lane].size()) return false;
  const int next = own.lanes[lane][own.next[lane]];
  if (!may_begin(own, next)) return false;
  own.current = next;
  if (must_wait(rank)) return false;
  try {
    run(rank, step(rank));
  } catch (const Fault& fault) {
    faults_.add(fmt::format("{}: {}", label(rank, next), fault.what()));
  }
  ++own.next[lane];
  own.done[static_cast<std::size_t>(next)] = true;
  --own.left;
  return true;
}

bool Execution::may_begin(const Progress& progress, int step) const {
  return std::ranges::all_of(progress.after[static_cast<std::size_t>(step)],
                             [&](int before) { return progress.done[static_cast<std::size_t>(before)]; });
}

// --- waiting

bool Execution::must_wait(int rank) {
  const Step& next = step(rank);
  if (first_incomplete(rank)) return true;
  return next.kind == StepKind::wait && messages_.signals(next.peer, rank, next.channel) < next.count;
}

std::optional<int> Execution::first_incomplete(int rank) {
  for (const int message : step(rank).after) {
    if (!is_complete(rank, message)) return message;
  }
  return std::nullopt;
}

bool Execution::is_complete(int rank, int message) {
  const auto order = progress(rank).order.find(message);
  if (order == progress(rank).order.end()) return true;  // seen before
  const Step& sent = plans_.plan(rank).steps[static_cast<std::size_t>(message)];
  const auto number = static_cast<std::size_t>(order->second);
  if (sent.kind == StepKind::receive) return messages_.lane(sent.peer, rank).sends.size() > number;
  return pace_.mode == SendMode::buffered || messages_.lane(rank, sent.peer).receives.size() > number;
}

Execution::Blockage Execution::blockage(int rank) {
  if (const std::optional<int> message = first_incomplete(rank)) {
    const Step& awaited = plans_.plan(rank).steps[static_cast<std::size_t>(*message)];
    const bool is_send = awaited.kind == StepKind::send;
    return {awaited.peer,
            fmt::format("for rank {} to {} the message of step {}{}", awaited.peer,
                        is_send ? "receive" : "send", *message, is_send ? " (sends not buffered)" : "")};
  }
  const Step& next = step(rank);
  return {next.peer, fmt::format("for {} signals of rank {} on channel {}, of which {} arrived", next.count,
                                 next.peer, next.channel, messages_.signals(next.peer, rank, next.channel))};
}

// --- steps

void Execution::run(int rank, const Step& next) {
  for (const int message : next.after) observe(rank, message);
  switch (next.kind) {
    case StepKind::copy:
    case StepKind::accumulate:
    case StepKind::fill:
    case StepKind::compute:
      return run_local(rank, next);
    case StepKind::send:
      return send(rank, next);
    case StepKind::receive:
      return receive(rank, next);
    case StepKind::signal:
      ++messages_.signals(rank, next.peer, next.channel);
      return;
    case StepKind::wait: {
      std::int64_t& waited = progress(rank).waited[{next.peer, next.channel}];
      waited = std::max(waited, next.count);
      return;
    }
    case StepKind::finish:
      return;
  }
}

// Memory of another rank: on the same node, where peers can reach it, and while that rank is inside its plan,
// since before and after its owner may do with it what it likes.
void Execution::check_access(int rank, const Place& place) const {
  const Buffer& buffer = plans_.buffer(place.buffer);
  if (place.rank == rank) return;
  check<Fault>(plans_.plan(rank).topology.same_node(rank, place.rank), "rank {} is on another node",
               place.rank);
  check<Fault>(buffer.kind != BufferKind::scratch, "{} is private to its rank", buffer.name);
  if (buffer.operand) {
    const Plan& plan = plans_.plan(rank);
    const Step& step = plan.steps[static_cast<std::size_t>(progress(rank).current)];
    const bool pulled = planning::is_pull(plan, step) && place.rank == step.from.rank &&
                        place.buffer == step.from.buffer && plan.topology.has_cross_memory();
    check<Fault>((buffer.operand->residency == Residency::heap || pulled) && buffer.operand->dense,
                 "{} of rank {} cannot be reached in place: it is not dense on the symmetric heap",
                 buffer.name, place.rank);
  }
  const Progress& peer = progress(place.rank);
  check<Fault>(peer.began, "rank {} may not have begun its plan yet: it has granted nothing", place.rank);
  check<Fault>(!ended(place.rank), "rank {} may have ended its plan already: its grant is over", place.rank);
}

void Execution::send(int rank, const Step& next) {
  Lane& lane = messages_.lane(rank, next.peer);
  const int number = progress(rank).current;
  progress(rank).order[number] = static_cast<int>(lane.sends.size());
  lane.sends.push_back({number, next.bytes});
  const InFlight range = memory_.range(next.from, next.bytes, false, number);
  memory_.check_quiet(next.from, range.first, range.last, false);
  memory_.start(rank, range);
  take({rank, next.peer, progress(rank).order[number]}, rank, range);
}

void Execution::receive(int rank, const Step& next) {
  Lane& lane = messages_.lane(next.peer, rank);
  const int number = progress(rank).current;
  progress(rank).order[number] = static_cast<int>(lane.receives.size());
  lane.receives.push_back({number, next.bytes});
  const InFlight range = memory_.range(next.to, next.bytes, true, number);
  memory_.check_quiet(next.to, range.first, range.last, true);
  memory_.start(rank, range);
}

// The rank sees that one of its messages is complete; from here on the received data is in the scratch.
void Execution::observe(int rank, int message) {
  auto& order = progress(rank).order;
  const auto found = order.find(message);
  if (found == order.end()) return;
  const auto number = static_cast<std::size_t>(found->second);
  order.erase(found);
  memory_.finish(rank, message);
  const Step& received = plans_.plan(rank).steps[static_cast<std::size_t>(message)];
  if (received.kind == StepKind::send) return;
  const MessageEnd& sent = messages_.lane(received.peer, rank).sends[number];
  check<Fault>(sent.bytes == received.bytes, "step {} receives {} bytes, but step {} of rank {} sends {}",
               message, received.bytes, sent.step, received.peer, sent.bytes);
  put({received.peer, rank, static_cast<int>(number)}, rank, received.to.buffer,
      received.to.offset / plans_.item(received.to.buffer));
}

// --- the end

void Execution::check_rest() {
  for (const auto& [ends, lane] : messages_.lanes()) {
    if (lane.sends.size() == lane.receives.size()) continue;
    faults_.add(fmt::format("rank {} sends {} messages to rank {}, which receives {}", ends.first,
                            lane.sends.size(), ends.second, lane.receives.size()));
  }
  for (int rank = 0; rank < plans_.ranks(); ++rank) {
    for (const auto& [message, number] : progress(rank).order) {
      faults_.add(fmt::format("{}: is never finished", label(rank, message)));
    }
  }
  for (const auto& [key, sent] : messages_.all_signals()) {
    const auto [from, to, channel] = key;
    const std::int64_t waited = progress(to).waited[{from, channel}];
    if (sent <= waited) continue;
    faults_.add(fmt::format(
        "rank {} signals rank {} {} times on channel {}, which waits for {} only: the surplus would count in "
        "the next execution",
        from, to, sent, channel, waited));
  }
}

}  // namespace partita::verification
