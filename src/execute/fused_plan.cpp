#include "execute/fused_plan.hpp"

#include <algorithm>
#include <array>

#include "execute/lower.hpp"
#include "execute/put_move.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"

namespace partita {
namespace {

/// Below so many bytes to its peers, a plan is done sooner in one stream: streams have to be forked and
/// joined.
constexpr std::int64_t least_for_branches = std::int64_t{4} << 20;

std::int64_t bytes_to_peers(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::copy && other_rank(plan, step) != plan.rank) bytes += moved_bytes(plan, step);
  }
  return bytes;
}

}  // namespace

std::unique_ptr<FusedPlan> FusedPlan::of(ContextState& context, Plan& plan) {
  if (context.size() == 1 || !FusedExchange::of(plan)) return nullptr;
  return std::make_unique<FusedPlan>(context, std::move(plan));
}

// What is fused touches no private scratch: none is made.
FusedPlan::FusedPlan(ContextState& context, Plan plan)
    : Executor(context, std::move(plan), MemorySpace::device), fused_(FusedExchange::of(plan_).value()) {
  constexpr std::int64_t of_flags = 4;
  starts_ =
      of_flags + std::ranges::count_if(plan_.steps, [](const Step& step) { return is_copy(step.kind); });
}

void FusedPlan::connect() {
  memory_.connect();
  const int lanes = std::min(context_.device->lanes(), context_.size() - 1);
  may_branch_ = fused_.has_only_copies() && lanes > 0 && bytes_to_peers(plan_) >= least_for_branches;
  streams_.resize(may_branch_ ? static_cast<std::size_t>(lanes) + 1 : 1);
}

void FusedPlan::relower() {
  moves_ = lower_moves(plan_, memory_.strides());
  fused_.reserve(moves_);
  in_branches_ = may_branch_ && !context_.device->copies_at_once(fused_.place_copies(moves_, memory_));
}

void FusedPlan::run(const Execution& execution) {
  captured_ = execution.captured;
  clock_ = execution.clock;
  if (captured_) context_.flags->count_on_device();
  std::ranges::fill(streams_, execution.stream);
  const PeerExchange all = fused_.collect(moves_, memory_, *context_.flags);
  if (in_branches_) {
    run_branches();
  } else {
    timed({}, 0, [&] { context_.device->exchange(all, execution.stream); });
  }
  context_.flags->advance();
}

/// No flags between the copies, which cost some microseconds each; and copies to peers in the first stream,
/// since between streams there is some time, too. What the rank copies for itself no peer waits for: it is
/// joined last. A graph has no branches: it may run them one after the other.
void FusedPlan::run_branches() {
  const auto join = [this](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last && !captured_; ++i) {
      context_.device->order(streams_[i], streams_.front());
    }
  };
  const auto put_flags = [this](Steps steps, std::span<const FlagOperation> flags) {
    if (steps.empty()) return;
    timed(steps, 0, [&] { context_.device->flags(flags, streams_.front()); });
  };
  put_flags(fused_.early(), fused_.early_flags());
  for (std::size_t i = 1; i < streams_.size() && !captured_; ++i) {
    streams_[i] = context_.device->lane(static_cast<int>(i) - 1);
    context_.device->order(streams_.front(), streams_[i]);
  }
  for (const std::size_t i : fused_.copies()) {
    const Step& step = plan_.steps[i];
    const std::size_t lane = lane_of(step);
    timed(std::array{i}, lane, [&] {
      put_move(*context_.device, plan_, step, moves_[i], memory_, other_rank(plan_, step) == plan_.rank,
               streams_[lane]);
    });
  }
  join(1, streams_.size() - 1);
  put_flags(fused_.late(), fused_.late_flags());
  join(streams_.size() - 1, streams_.size());
}

template <class Work>
void FusedPlan::timed(Steps steps, std::size_t lane, const Work& work) {
  timed_in_stream(clock_, *context_.device, steps, static_cast<int>(lane), streams_[lane], work);
}

std::size_t FusedPlan::lane_of(const Step& step) const {
  if (captured_) return 0;
  const int other = other_rank(plan_, step);
  if (other == plan_.rank) return streams_.size() - 1;
  const int distance = (other - plan_.rank - 1 + context_.size()) % context_.size();
  return static_cast<std::size_t>(distance) % (streams_.size() - 1);
}

}  // namespace partita
