#include "execute/bound_plan.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "kernels/host/fill.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"
#include "runtime/wait.hpp"

namespace partita {
namespace {

bool moves_data(StepKind kind) {
  return kind == StepKind::copy || kind == StepKind::accumulate || kind == StepKind::fill;
}

}  // namespace

BoundPlan::BoundPlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace)
    : context_(context),
      plan_(std::move(plan)),
      plan_hash_(plan_.hash()),
      operands_(plan_.buffers.size(), nullptr),
      lowered_strides_(plan_.buffers.size()),
      moves_(plan_.steps.size()),
      works_(plan_.works.size()),
      node_index_(static_cast<std::size_t>(context.size()), -1),
      mail_(context, plan_) {
  check<UnsupportedError>(space_of(plan_) == MemorySpace::host,
                          "{}: device memory is not offered for it yet; copy the arrays to host memory",
                          plan_.operation);
  const std::vector<int> neighbours = context.topology().node_ranks(context.topology().node(context.rank()));
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    node_index_[static_cast<std::size_t>(neighbours[i])] = static_cast<int>(i);
  }
  signals_.resize(neighbours.size());
  context.signals_seen.resize(neighbours.size());
  for (const Step& step : plan_.steps) {
    if (step.kind != StepKind::wait) continue;
    const int node_rank = node_index_[static_cast<std::size_t>(step.peer)];
    auto& most = signals_[static_cast<std::size_t>(node_rank)][static_cast<std::size_t>(step.channel)];
    most = std::max(most, static_cast<std::uint64_t>(step.count));
  }
  const ScratchPlaces places = scratch_places(plan_);
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    if (places.offsets[b] < 0) {
      scratch_.push_back(nullptr);
    } else if (workspace) {
      scratch_.push_back(std::make_unique<Scratch>(context, *workspace + places.offsets[b]));
    } else {
      scratch_.push_back(std::make_unique<Scratch>(context, plan_.buffers[b]));
    }
  }
}

void BoundPlan::execute(std::span<const Array::State* const> operands, const Parameters& parameters) {
  context_.require_usable(plan_.operation);
  bind(operands);
  parameters_ = parameters;
  try {
    run();
  } catch (const std::exception& error) {
    context_.fail(error.what());
    throw;
  }
}

void BoundPlan::enqueue(std::span<const Array::State* const>, Stream) {
  throw UnsupportedError(fmt::format("{}: host memory has no streams", plan_.operation));
}

void BoundPlan::bind(std::span<const Array::State* const> operands) {
  std::size_t next = 0;
  bool same_strides = !lowered_strides_.empty();
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    if (plan_.buffers[b].kind != BufferKind::operand) continue;
    check(next < operands.size(), "{}: an operand is missing: {}", plan_.operation, plan_.buffers[b].name);
    const Array::State& array = *operands[next++];
    match(plan_.buffers[b], array);
    same_strides = same_strides && lowered_strides_[b] == array.local.strides && operands_[b] != nullptr;
    operands_[b] = &array;
    lowered_strides_[b] = array.local.strides;
  }
  if (same_strides) return;
  lower_moves();
  lower_works();
}

void BoundPlan::lower_moves() {
  const Traffic total = traffic(plan_);
  const std::int64_t arriving = total.local_bytes + total.node_bytes + total.network_bytes;
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
    moves_[i].nests = lower(step.region, fills ? to : side(step.from), to, item);
    if (fills) std::ranges::transform(moves_[i].nests, moves_[i].nests.begin(), destination_of);
    // Staging that peers read is streamed too: a store to a line that another core has just read costs more
    // than going past the cache. Packed messages are read by this rank's own MPI next, from cache.
    const bool for_message =
        plan_.buffers[static_cast<std::size_t>(step.to.buffer)].kind == BufferKind::scratch;
    moves_[i].hint = for_message ? StoreHint::cache : hint_for(arriving);
  }
}

void BoundPlan::lower_works() {
  const WorkBinding binding{plan_, lowered_strides_, std::make_shared<Workspace>(),
                            [this](const Place& place) { return address(place); }};
  for (std::size_t i = 0; i < plan_.works.size(); ++i) works_[i] = bind_work(plan_.works[i], binding);
}

void BoundPlan::run() {
  ++context_.executions;
  running_hash_ = execution_hash();
  context_.board->begin_execution(running_hash_);
  mail_.begin(running_hash_, context_.executions);
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) run_step(i);
  mail_.end();
  advance_signals();
}

void BoundPlan::run_step(std::size_t index) {
  const Step& step = plan_.steps[index];
  for (const int message : step.after) mail_.finish(static_cast<std::size_t>(message));
  switch (step.kind) {
    case StepKind::copy:
    case StepKind::accumulate:
    case StepKind::fill:
      return run_move(step, moves_[index]);
    case StepKind::send:
      return mail_.send(index, address(step.from) + step.from.offset);
    case StepKind::receive:
      return mail_.receive(index, address(step.to) + step.to.offset);
    case StepKind::signal:
      return context_.board->signal(node_index_[static_cast<std::size_t>(step.peer)], step.channel);
    case StepKind::wait:
      return wait_signal(step);
    case StepKind::finish:
      return;
    case StepKind::compute:
      return works_[static_cast<std::size_t>(step.work)]->run(
          [this](const Place& place) { return address(place); }, parameters_);
  }
}

void BoundPlan::run_move(const Step& step, const Move& move) {
  char* to = address(step.to);
  if (step.kind == StepKind::fill) {
    std::array<unsigned char, 16> identity{};
    const Dtype dtype = dtype_at(plan_, step.to);
    write_identity(step.reduction, dtype, identity.data());
    for (const StridedCopy& nest : move.nests) fill(nest, identity.data(), size_of(dtype), to, move.hint);
    return;
  }
  const char* from = address(step.from);
  for (const StridedCopy& nest : move.nests) {
    if (step.kind == StepKind::copy) {
      copy(nest, from, to, move.hint);
    } else {
      accumulate(nest, dtype_at(plan_, step.to), step.reduction, from, to);
    }
  }
}

void BoundPlan::wait_signal(const Step& step) {
  const int node_rank = node_index_[static_cast<std::size_t>(step.peer)];
  const std::uint64_t seen =
      context_.signals_seen[static_cast<std::size_t>(node_rank)][static_cast<std::size_t>(step.channel)];
  const std::uint64_t wanted = seen + static_cast<std::uint64_t>(step.count);
  const WaitReason reason{
      plan_.operation,
      [&] { return fmt::format("signal {} on channel {} of rank {}", step.count, step.channel, step.peer); },
      step.peer,
      {}};
  WaitLoop loop(context_, reason);
  while (context_.board->counter(node_rank, step.channel) < wanted) {
    check_announcement(step.peer, node_rank);
    loop.pause();
  }
  if (step.count == 1) check_announcement(step.peer, node_rank);
}

void BoundPlan::check_announcement(int peer, int node_rank) {
  const std::optional<std::uint64_t> theirs = context_.board->announced(node_rank, context_.executions);
  if (!theirs || *theirs == running_hash_) return;
  throw DisagreementError(
      fmt::format("{}: the ranks execute different plans or arrays: execution {} is plan {:016x} on rank {}, "
                  "plan {:016x} on rank {}",
                  plan_.operation, context_.executions, running_hash_, context_.rank(), *theirs, peer));
}

void BoundPlan::advance_signals() {
  for (std::size_t node_rank = 0; node_rank < signals_.size(); ++node_rank) {
    for (std::size_t channel = 0; channel < channel_count; ++channel) {
      context_.signals_seen[node_rank][channel] += signals_[node_rank][channel];
    }
  }
}

char* BoundPlan::address(const Place& place) const {
  const int viewed = plan_.buffers[static_cast<std::size_t>(place.buffer)].view_of;
  const auto buffer = static_cast<std::size_t>(viewed >= 0 ? viewed : place.buffer);
  if (scratch_[buffer]) return scratch_[buffer]->on_rank(place.rank);
  const Array::State& array = *operands_[buffer];
  if (place.rank == context_.rank()) return static_cast<char*>(array.local.data);
  return static_cast<char*>(context_.heap->at(place.rank, array.heap_offset));
}

// Peers read operands on the heap by offset, so the offsets are part of what must agree.
std::uint64_t BoundPlan::execution_hash() const {
  std::uint64_t hash = plan_hash_;
  for (std::size_t b = 0; b < operands_.size(); ++b) {
    if (operands_[b] == nullptr || plan_.buffers[b].operand->residency != Residency::heap) continue;
    hash = mix(hash, static_cast<std::uint64_t>(operands_[b]->heap_offset));
  }
  return hash;
}

}  // namespace partita
