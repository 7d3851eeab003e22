#include "execute/device_plan.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "device/finish.hpp"
#include "kernels/host/fill.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

/// Below so many bytes to its peers, a plan is done sooner in one stream: streams have to be forked and
/// joined.
constexpr std::int64_t least_for_lanes = std::int64_t{4} << 20;

bool moves_data(StepKind kind) {
  return kind == StepKind::copy || kind == StepKind::accumulate || kind == StepKind::fill;
}

bool is_message(StepKind kind) {
  return kind == StepKind::send || kind == StepKind::receive;
}

const Place& message_place(const Step& step) {
  return step.kind == StepKind::send ? step.from : step.to;
}

}  // namespace

DevicePlan::DevicePlan(ContextState& context, Plan plan)
    : context_(context),
      plan_(std::move(plan)),
      plan_hash_(plan_.hash()),
      operands_(plan_.buffers.size(), nullptr),
      lowered_strides_(plan_.buffers.size()),
      moves_(plan_.steps.size()),
      signals_(static_cast<std::size_t>(context.size())),
      mail_(context, plan_) {
  refuse_unknown_steps();
  count_signals();
  const int lanes = std::min(context.device->lanes(), context.size() - 1);
  const bool independent = context.size() > 1 && peers_are_independent();
  in_lanes_ = independent && lanes > 0 && bytes_to_peers() >= least_for_lanes;
  in_strokes_ = independent && !in_lanes_;
  if (in_strokes_) {
    find_early_flags();
    for (auto* const flags : {&early_signals_, &early_waits_, &late_signals_, &late_waits_}) {
      flags->reserve(plan_.steps.size());
    }
  }
  lines_.resize(in_lanes_ ? static_cast<std::size_t>(lanes) + 1 : 1);
  for (Line& line : lines_) line.pending.reserve(plan_.steps.size());
  for (const Buffer& buffer : plan_.buffers) {
    const bool own = buffer.kind != BufferKind::operand;
    scratch_.push_back(own ? std::make_unique<Scratch>(context, buffer, MemorySpace::device) : nullptr);
  }
}

void DevicePlan::refuse_unknown_steps() const {
  for (const Step& step : plan_.steps) {
    check<UnsupportedError>(step.kind != StepKind::compute,
                            "{}: computing on a device is not offered yet; copy the arrays to host memory",
                            plan_.operation);
    if (!is_message(step.kind)) continue;
    const auto buffer = static_cast<std::size_t>(message_place(step).buffer);
    check<UnsupportedError>(plan_.buffers[buffer].kind == BufferKind::scratch,
                            "{}: messages leave from private scratch only", plan_.operation);
  }
}

// Every copy reads an array that no step writes, and nothing is written twice: then only the signals of one
// peer and the copies that concern it have an order. So it is in plans that push or read in place.
bool DevicePlan::peers_are_independent() const {
  std::vector<bool> written(plan_.buffers.size(), false);
  for (const Step& step : plan_.steps) {
    const bool independent =
        step.kind == StepKind::copy || step.kind == StepKind::signal || step.kind == StepKind::wait;
    if (!independent || (step.kind == StepKind::wait && step.count != 1)) return false;
    if (step.kind != StepKind::copy) continue;
    if (is_scratch(plan_, step.from) || is_scratch(plan_, step.to)) return false;
    written[static_cast<std::size_t>(step.to.buffer)] = true;
  }
  return std::ranges::none_of(plan_.steps, [&](const Step& step) {
    return step.kind == StepKind::copy && written[static_cast<std::size_t>(step.from.buffer)];
  });
}

std::int64_t DevicePlan::bytes_to_peers() const {
  std::int64_t bytes = 0;
  for (const Step& step : plan_.steps) {
    if (step.kind == StepKind::copy && other_rank(step) != plan_.rank) bytes += moved_bytes(plan_, step);
  }
  return bytes;
}

/// Of the signals and waits of one peer, a signal that no copy to or from it precedes (a grant, or that the
/// source is ready), and a wait that such a copy follows. The others close what the copies have done. All
/// early signals depend on nothing, so early waits end; all late signals depend on early waits only.
void DevicePlan::find_early_flags() {
  flag_is_early_.assign(plan_.steps.size(), false);
  std::vector<bool> copied(signals_.size(), false);
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    const auto other = static_cast<std::size_t>(other_rank(step));
    if (step.kind == StepKind::copy) copied[other] = true;
    if (step.kind == StepKind::signal) flag_is_early_[i] = !copied[other];
  }
  copied.assign(signals_.size(), false);
  for (std::size_t i = plan_.steps.size(); i-- > 0;) {
    const Step& step = plan_.steps[i];
    const auto other = static_cast<std::size_t>(other_rank(step));
    if (step.kind == StepKind::copy) copied[other] = true;
    if (step.kind == StepKind::wait) flag_is_early_[i] = copied[other];
  }
}

int DevicePlan::other_rank(const Step& step) const {
  if (step.kind != StepKind::copy) return step.peer;
  return step.to.rank != plan_.rank ? step.to.rank : step.from.rank;
}

void DevicePlan::count_signals() {
  for (const Step& step : plan_.steps) {
    if (step.kind != StepKind::wait) continue;
    auto& most = signals_[static_cast<std::size_t>(step.peer)][static_cast<std::size_t>(step.channel)];
    most = std::max(most, step.count);
  }
}

void DevicePlan::execute(std::span<const Array::State* const> operands, const Parameters&) {
  enqueue(operands, {});
  wait_for_streams();
}

void DevicePlan::enqueue(std::span<const Array::State* const> operands, Stream stream) {
  context_.require_usable(plan_.operation);
  bind(operands);
  try {
    run(begin_device_work(context_, stream));
  } catch (const std::exception& error) {
    context_.fail(error.what());
    throw;
  }
}

void DevicePlan::bind(std::span<const Array::State* const> operands) {
  std::size_t next = 0;
  bool same_strides = true;
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    if (plan_.buffers[b].kind != BufferKind::operand) continue;
    check(next < operands.size(), "{}: an operand is missing: {}", plan_.operation, plan_.buffers[b].name);
    const Array::State& array = *operands[next++];
    match(plan_.buffers[b], array);
    same_strides = same_strides && operands_[b] != nullptr && lowered_strides_[b] == array.local.strides;
    operands_[b] = &array;
    lowered_strides_[b] = array.local.strides;
  }
  if (!same_strides) lower_moves();
}

void DevicePlan::lower_moves() {
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (!moves_data(step.kind)) continue;
    const std::int64_t item = item_bytes(plan_, step);
    const auto side = [&](const Place& place) {
      return side_of(plan_, place, step.region, lowered_strides_[static_cast<std::size_t>(place.buffer)],
                     item);
    };
    const Side to = side(step.to);
    const bool fills = step.kind == StepKind::fill;
    moves_[i] = lower(step.region, fills ? to : side(step.from), to, item);
    if (fills) std::ranges::transform(moves_[i], moves_[i].begin(), destination_of);
  }
  std::size_t nests = 0;
  for (const std::vector<StridedCopy>& move : moves_) nests += move.size();
  copies_.reserve(nests);
}

void DevicePlan::run(Stream stream) {
  ++context_.executions;
  running_hash_ = execution_hash();
  context_.board->begin_execution(running_hash_);
  mail_.begin(running_hash_, context_.executions);
  streams_use_messages_ = false;
  open_lines(stream);
  if (in_strokes_) {
    run_in_strokes();
  } else {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) run_step(i);
  }
  close_lines();
  // What a message brought is unpacked before the next execution may receive into the same place.
  if (streams_use_messages_) wait_for_streams();
  mail_.end();
  for (int rank = 0; rank < context_.size(); ++rank) {
    for (int channel = 0; channel < channel_count; ++channel) {
      const std::int64_t count = signals_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(channel)];
      if (count > 0) context_.flags->advance(rank, channel, count);
    }
  }
}

void DevicePlan::run_in_strokes() {
  copies_.clear();
  for (auto* const flags : {&early_signals_, &early_waits_, &late_signals_, &late_waits_}) flags->clear();
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (step.kind == StepKind::signal) {
      (flag_is_early_[i] ? early_signals_ : late_signals_)
          .push_back(context_.flags->signal(step.peer, step.channel));
    } else if (step.kind == StepKind::wait) {
      (flag_is_early_[i] ? early_waits_ : late_waits_)
          .push_back(context_.flags->wait(step.peer, step.channel, step.count));
    } else {
      for (const StridedCopy& nest : moves_[i]) {
        copies_.push_back({&nest, address(step.from), address(step.to), is_inside(step)});
      }
    }
  }
  context_.device->exchange({early_signals_, early_waits_, copies_, late_signals_, late_waits_},
                            lines_[0].stream);
}

void DevicePlan::open_lines(Stream stream) {
  lines_[0].stream = stream;
  for (std::size_t i = 1; i < lines_.size(); ++i) {
    lines_[i].stream = context_.device->lane(static_cast<int>(i) - 1);
    context_.device->order(stream, lines_[i].stream);
  }
}

void DevicePlan::close_lines() {
  for (std::size_t i = lines_.size(); i-- > 0;) {
    flush(lines_[i]);
    if (i > 0) context_.device->order(lines_[i].stream, lines_[0].stream);
  }
}

DevicePlan::Line& DevicePlan::line_of(const Step& step) {
  const int other = other_rank(step);
  if (!in_lanes_ || other == plan_.rank) return lines_[0];
  const std::size_t lanes = lines_.size() - 1;
  const int distance = (other - plan_.rank - 1 + context_.size()) % context_.size();
  return lines_[1 + static_cast<std::size_t>(distance) % lanes];
}

void DevicePlan::flush(Line& line) {
  if (line.pending.empty()) return;
  context_.device->flags(line.pending, line.stream);
  line.pending.clear();
}

void DevicePlan::run_step(std::size_t index) {
  const Step& step = plan_.steps[index];
  finish_messages(step);
  switch (step.kind) {
    case StepKind::copy:
    case StepKind::accumulate:
    case StepKind::fill:
      return run_move(index, line_of(step));
    case StepKind::send:
      before_message();
      return mail_.send(index, address(step.from) + step.from.offset);
    case StepKind::receive:
      before_message();
      return mail_.receive(index, address(step.to) + step.to.offset);
    case StepKind::signal:
      return line_of(step).pending.push_back(context_.flags->signal(step.peer, step.channel));
    case StepKind::wait:
      return line_of(step).pending.push_back(context_.flags->wait(step.peer, step.channel, step.count));
    case StepKind::finish:
    case StepKind::compute:
      return;
  }
}

// The host waits here: what the peer needs to go on has to be on its way.
void DevicePlan::finish_messages(const Step& step) {
  if (step.after.empty()) return;
  for (Line& line : lines_) flush(line);
  for (const int message : step.after) mail_.finish(static_cast<std::size_t>(message));
}

/// Messages leave from, and arrive in, memory that earlier copies may still be reading or writing.
void DevicePlan::before_message() {
  if (!streams_use_messages_) return;
  for (Line& line : lines_) flush(line);
  wait_for_streams();
  streams_use_messages_ = false;
}

void DevicePlan::run_move(std::size_t index, Line& line) {
  const Step& step = plan_.steps[index];
  flush(line);
  char* const to = address(step.to);
  const auto is_for_messages = [&](const Place& place) {
    return plan_.buffers[static_cast<std::size_t>(place.buffer)].kind == BufferKind::scratch;
  };
  if (is_for_messages(step.to)) streams_use_messages_ = true;
  if (step.kind == StepKind::fill) {
    std::array<unsigned char, 16> identity{};
    const Dtype dtype = dtype_at(plan_, step.to);
    write_identity(step.reduction, dtype, identity.data());
    for (const StridedCopy& nest : moves_[index]) {
      context_.device->fill(nest, identity.data(), size_of(dtype), to, line.stream);
    }
    return;
  }
  if (is_for_messages(step.from)) streams_use_messages_ = true;
  const char* const from = address(step.from);
  for (const StridedCopy& nest : moves_[index]) {
    if (step.kind == StepKind::copy) {
      context_.device->copy(nest, from, to, line.stream, is_inside(step));
    } else {
      context_.device->accumulate(nest, dtype_at(plan_, step.to), step.reduction, from, to, line.stream);
    }
  }
}

/// Streams that are done before the first look have met the signals of another plan as if they were of this
/// one: so there is a look at the end, too.
void DevicePlan::wait_for_streams() {
  finish_device(context_, plan_.operation, [this] { check_announcements(); });
  try {
    check_announcements();
  } catch (const std::exception& error) {
    context_.fail(error.what());
    throw;
  }
}

void DevicePlan::check_announcements() const {
  const std::vector<int> neighbours = context_.topology().node_ranks(context_.topology().node(plan_.rank));
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const auto theirs = context_.board->announced(static_cast<int>(i), context_.executions);
    if (!theirs || *theirs == running_hash_) continue;
    throw DisagreementError(fmt::format(
        "{}: the ranks execute different plans or arrays: execution {} is plan {:016x} on rank {}, "
        "plan {:016x} on rank {}",
        plan_.operation, context_.executions, running_hash_, plan_.rank, *theirs, neighbours[i]));
  }
}

char* DevicePlan::address(const Place& place) const {
  const auto buffer = static_cast<std::size_t>(place.buffer);
  if (scratch_[buffer]) return scratch_[buffer]->on_rank(place.rank);
  const Array::State& array = *operands_[buffer];
  if (place.rank == context_.rank()) return static_cast<char*>(array.local.data);
  return static_cast<char*>(context_.device_heap->at(place.rank, array.heap_offset));
}

// Peers write operands on the heap by offset, so the offsets are part of what must agree.
std::uint64_t DevicePlan::execution_hash() const {
  std::uint64_t hash = plan_hash_;
  for (std::size_t b = 0; b < operands_.size(); ++b) {
    if (operands_[b] == nullptr || plan_.buffers[b].operand->residency != Residency::heap) continue;
    hash = mix(hash, static_cast<std::uint64_t>(operands_[b]->heap_offset));
  }
  return hash;
}

}  // namespace partita
