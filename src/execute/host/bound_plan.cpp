#include "execute/host/bound_plan.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "execute/step_clock.hpp"
#include "kernels/host/fill.hpp"
#include "kernels/host/walk.hpp"
#include "plan/channels.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/announcement.hpp"
#include "runtime/checks/withdrawal.hpp"

namespace partita::execution {

namespace {

constexpr auto ready = static_cast<std::size_t>(planning::Channel::ready);

}  // namespace

BoundPlan::BoundPlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace,
                     std::size_t given)
    : Executor(context, std::move(plan), MemorySpace::host, workspace),
      moves_(plan_.steps.size()),
      works_(plan_.works.size()),
      node_index_(static_cast<std::size_t>(context.size()), -1),
      given_(given),
      may_withdraw_(context.topology().node_count() == 1 && !context.device),
      mail_(context, plan_, given > 0 ? runtime::Lane::halves : runtime::Lane::data) {
  const std::vector<int> neighbours = context.topology().node_ranks(context.topology().node(context.rank()));
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    node_index_[static_cast<std::size_t>(neighbours[i])] = static_cast<int>(i);
  }
  signals_.resize(neighbours.size());
  context.signals_seen.resize(neighbours.size());
  compares_.resize(plan_.steps.size());
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (step.kind != StepKind::wait) continue;
    const int node_rank = node_index_[static_cast<std::size_t>(step.peer)];
    auto& most = signals_[static_cast<std::size_t>(node_rank)][static_cast<std::size_t>(step.channel)];
    compares_[i] = most == 0;
    most = std::max(most, static_cast<std::uint64_t>(step.count));
  }
}

void BoundPlan::relower() {
  lower_moves();
  lower_works();
}

void BoundPlan::lower_moves() {
  const Traffic total = traffic(plan_);
  const std::int64_t arriving = total.local_bytes + total.node_bytes + total.network_bytes;
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (!planning::is_copy(step.kind)) continue;
    moves_[i].nests = lower(plan_, step, memory_.strides());
    // Staging that peers read is streamed too: a store to a line that another core has just read costs more
    // than going past the cache. Packed messages are read by this rank's own MPI next, from cache.
    const bool for_message =
        plan_.buffers[static_cast<std::size_t>(step.to.buffer)].kind == BufferKind::scratch;
    moves_[i].hint = for_message ? kernels::StoreHint::cache : kernels::hint_for(arriving);
  }
}

void BoundPlan::lower_works() {
  const WorkBinding binding{plan_, memory_.strides(), std::make_shared<Workspace>(),
                            [this](const Place& place) { return memory_.address(place); }};
  for (std::size_t i = 0; i < plan_.works.size(); ++i) works_[i] = bind_work(plan_.works[i], binding);
}

// Arrays move from one execution to the next, and peers have their addresses from here. They come to read
// them when a signal has notified them that they may, and until they have signalled the end this rank is in
// this same execution.
void BoundPlan::lend() const {
  if (!plan_.topology.has_cross_memory()) return;
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    const Buffer& buffer = plan_.buffers[b];
    const bool wanted = buffer.kind == BufferKind::operand && buffer.operand->dense &&
                        buffer.operand->residency == Residency::ordinary;
    if (!wanted) continue;
    const char* const address = memory_.address({static_cast<int>(b), context_.rank(), 0, {}});
    context_.board->lend(b, reinterpret_cast<std::uint64_t>(address));
  }
}

// The kernel accepts the rows in any order.
void BoundPlan::pull(const Step& step, const Move& move) {
  const int node_rank = node_index_[static_cast<std::size_t>(step.from.rank)];
  const auto* const lent = reinterpret_cast<const char*>(  // NOLINT(performance-no-int-to-ptr): the peer's
      context_.board->lent(node_rank, static_cast<std::size_t>(step.from.buffer)));
  memory::CrossMemory::Read read(*context_.cross_memory, context_, plan_.operation, step.from.rank);
  for (const kernels::StridedCopy& nest : move.nests) {
    kernels::walk(std::span<const kernels::CopyLoop>(nest.loops), lent + nest.from_offset,
                  memory_.address(step.to) + nest.to_offset,
                  [&](const char* source, char* target) { read.add(source, target, nest.item_bytes); });
  }
  read.finish();
}

void BoundPlan::run(const Execution& execution) {
  lend();
  number_ = execution.announced.number;
  if (given_ > 0) {
    mail_.greet(execution.announced);
    run_steps(0, given_, execution.parameters, execution.clock);
    return begin_halves();
  }
  mail_.begin(execution.announced);
  std::optional<runtime::MayWithdraw> may_withdraw;
  if (may_withdraw_) may_withdraw.emplace(context_);
  run_steps(0, plan_.steps.size(), execution.parameters, execution.clock);
  mail_.end();
  advance_signals();
}

void BoundPlan::finish() {
  try {
    mail_.expect();
    if (context_.step_clock != nullptr) context_.step_clock->resume(plan_);
    run_steps(given_, plan_.steps.size(), {}, context_.step_clock);
    mail_.end();
    advance_signals();
  } catch (...) {
    context_.fail_with_current();
    throw;
  }
}

void BoundPlan::run_steps(std::size_t first, std::size_t end, const Parameters& parameters,
                          StepClock* clock) {
  for (std::size_t i = first; i < end; ++i) {
    if (clock != nullptr) clock->begin(i);
    run_step(i, parameters);
    if (clock != nullptr) clock->end(i);
  }
}

// What peers signal in their first halves comes before the signals of all that is executed from here on.
void BoundPlan::begin_halves() {
  ready_seen_.resize(signals_.size());
  for (std::size_t node_rank = 0; node_rank < signals_.size(); ++node_rank) {
    std::uint64_t& seen = context_.signals_seen[node_rank][ready];
    ready_seen_[node_rank] = seen;
    seen += signals_[node_rank][ready];
  }
}

bool BoundPlan::came_before(int channel) const {
  return given_ > 0 && static_cast<std::size_t>(channel) == ready;
}

void BoundPlan::run_step(std::size_t index, const Parameters& parameters) {
  const Step& step = plan_.steps[index];
  for (const int message : step.after) mail_.finish(static_cast<std::size_t>(message));
  switch (step.kind) {
    case StepKind::copy:
    case StepKind::accumulate:
    case StepKind::fill:
      return run_move(step, moves_[index]);
    case StepKind::send:
      return mail_.send(index, memory_.address(step.from) + step.from.offset, message_bytes(step));
    case StepKind::receive:
      return mail_.receive(index, memory_.address(step.to) + step.to.offset, message_bytes(step));
    case StepKind::signal:
      return context_.board->signal(node_index_[static_cast<std::size_t>(step.peer)], step.channel);
    case StepKind::wait:
      return wait_signal(index);
    case StepKind::finish:
      return;
    case StepKind::compute:
      return works_[static_cast<std::size_t>(step.work)]->run(
          [this](const Place& place) { return memory_.address(place); }, parameters);
  }
}

/// The size that the rank has computed, where it depends on data.
std::int64_t BoundPlan::message_bytes(const Step& step) const {
  if (step.expected_bytes < 0) return step.bytes;
  const Place& place = planning::size_place(step);
  std::int64_t bytes = 0;
  std::memcpy(&bytes, memory_.address(place) + place.offset, sizeof(bytes));
  invariant(bytes >= 0 && bytes <= step.bytes, "a message of {} bytes, where {} are the most", bytes,
            step.bytes);
  return bytes;
}

void BoundPlan::run_move(const Step& step, const Move& move) {
  if (planning::is_pull(plan_, step)) return pull(step, move);
  char* to = memory_.address(step.to);
  if (step.kind == StepKind::fill) {
    std::array<unsigned char, 16> identity{};
    const Dtype dtype = planning::dtype_at(plan_, step.to);
    write_identity(step.reduction, dtype, identity.data());
    for (const kernels::StridedCopy& nest : move.nests)
      kernels::fill(nest, identity.data(), size_of(dtype), to, move.hint);
    return;
  }
  const char* from = memory_.address(step.from);
  for (const kernels::StridedCopy& nest : move.nests) {
    if (step.kind == StepKind::copy) {
      kernels::copy(nest, from, to, move.hint);
    } else {
      kernels::accumulate(nest, planning::dtype_at(plan_, step.to), step.reduction, from, to);
    }
  }
}

void BoundPlan::wait_signal(std::size_t index) {
  const Step& step = plan_.steps[index];
  const int node_rank = node_index_[static_cast<std::size_t>(step.peer)];
  const auto number = static_cast<std::size_t>(node_rank);
  const std::uint64_t seen = came_before(step.channel)
                                 ? ready_seen_[number]
                                 : context_.signals_seen[number][static_cast<std::size_t>(step.channel)];
  const std::uint64_t wanted = seen + static_cast<std::uint64_t>(step.count);
  const runtime::WaitReason reason{.operation = plan_.operation,
                                   .what =
                                       [&] {
                                         return fmt::format("signal {} on channel {} of rank {}", step.count,
                                                            step.channel, step.peer);
                                       },
                                   .peer = step.peer,
                                   .kind = runtime::WaitReason::Kind::signal};
  runtime::WaitLoop loop(context_, reason);
  while (context_.board->counter(node_rank, step.channel) < wanted) loop.pause();
  // It may have been a signal of another plan.
  if (compares_[index]) runtime::compare_announcements(context_, plan_.operation, node_rank, number_);
}

void BoundPlan::advance_signals() {
  for (std::size_t node_rank = 0; node_rank < signals_.size(); ++node_rank) {
    for (std::size_t channel = 0; channel < channel_count; ++channel) {
      if (came_before(static_cast<int>(channel))) continue;
      context_.signals_seen[node_rank][channel] += signals_[node_rank][channel];
    }
  }
}

}  // namespace partita::execution
