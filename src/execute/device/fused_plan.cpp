#include "execute/device/fused_plan.hpp"

#include <algorithm>
#include <array>

#include "execute/device/put_move.hpp"
#include "execute/lower.hpp"
#include "kernels/host/copy_onto_itself.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"

namespace partita::execution {
namespace {

/// Below this many bytes to its peers, a plan is faster on one stream: streams must be forked and
/// merged by events.
constexpr std::int64_t least_for_branches = std::int64_t{4} << 20;

std::int64_t bytes_to_peers(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::copy && planning::other_rank(plan, step) != plan.rank)
      bytes += planning::moved_bytes(plan, step);
  }
  return bytes;
}

}  // namespace

std::unique_ptr<FusedPlan> FusedPlan::of(ContextState& context, Plan& plan) {
  std::optional<FusedExchange> fused = FusedExchange::of(plan);
  if (context.size() == 1 || !fused) return nullptr;
  return std::make_unique<FusedPlan>(context, std::move(plan), std::move(*fused));
}

// What is fused touches no private scratch.
FusedPlan::FusedPlan(ContextState& context, Plan plan, FusedExchange fused)
    : Executor(context, std::move(plan), MemorySpace::device), fused_(std::move(fused)) {
  early_.all.reserve(fused_.early.size());
  late_.all.reserve(fused_.late.size());
}

void FusedPlan::connect() {
  memory_.connect();
  const int lanes = std::min(context_.device->lanes(), context_.size() - 1);
  may_branch_ = fused_.packs.empty() && lanes > 0 && bytes_to_peers(plan_) >= least_for_branches;
  streams_.resize(may_branch_ ? static_cast<std::size_t>(lanes) + 1 : 1);
}

void FusedPlan::relower() {
  moves_ = lower_moves(plan_, memory_.strides());
  place(fused_.packs, packs_);
  place(fused_.copies, copies_);
  in_branches_ = may_branch_ && !context_.device->copies_at_once(copies_);
}

void FusedPlan::place(Steps steps, std::vector<devices::PlacedCopy>& to) const {
  std::size_t most = 0;
  for (const std::size_t i : steps) most += moves_[i].size();
  to.clear();
  to.reserve(most);
  for (const std::size_t i : steps) {
    const Step& step = plan_.steps[i];
    const devices::CopyScope scope = scope_of(plan_, step);
    const char* const from = memory_.address(step.from);
    char* const into = memory_.address(step.to);
    for (const kernels::StridedCopy& nest : moves_[i]) {
      if (!kernels::is_onto_itself(nest, from, into)) to.push_back({&nest, from, into, scope});
    }
  }
}

void FusedPlan::put(Steps steps, Flags& to) {
  to.all.clear();
  to.signals = 0;
  for (const std::size_t i : steps) {
    const Step& step = plan_.steps[i];
    const bool is_signal = step.kind == StepKind::signal;
    if (is_signal) ++to.signals;
    to.all.push_back(is_signal ? context_.flags->signal(step.peer, step.channel)
                               : context_.flags->wait(step.peer, step.channel, step.count));
  }
}

void FusedPlan::run(const Execution& execution) {
  captured_ = execution.captured;
  clock_ = execution.clock;
  if (captured_) context_.flags->count_on_device();
  std::ranges::fill(streams_, execution.stream);
  put(fused_.early, early_);
  put(fused_.late, late_);
  if (in_branches_) {
    run_branches();
  } else {
    place(fused_.packs, packs_);
    place(fused_.copies, copies_);
    const auto signals = [](const Flags& flags) { return std::span(flags.all).first(flags.signals); };
    const auto waits = [](const Flags& flags) { return std::span(flags.all).subspan(flags.signals); };
    const devices::PeerExchange all{packs_,  signals(early_), waits(early_),
                                    copies_, signals(late_),  waits(late_)};
    timed({}, 0, [&] { context_.device->exchange(all, execution.stream); });
  }
  context_.flags->advance();
}

/// No flags between the copies, which cost some microseconds each; and copies to peers in the first stream,
/// since between streams there is some time, too. What the rank copies for itself no peer waits for: it is
/// enqueued last. A graph has no branches: it may run them one after the other.
void FusedPlan::run_branches() {
  const auto join = [this](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last && !captured_; ++i) {
      context_.device->order(streams_[i], streams_.front());
    }
  };
  give(fused_.early, early_);
  for (std::size_t i = 1; i < streams_.size() && !captured_; ++i) {
    streams_[i] = context_.device->lane(static_cast<int>(i) - 1);
    context_.device->order(streams_.front(), streams_[i]);
  }
  for (const std::size_t i : fused_.copies) {
    const Step& step = plan_.steps[i];
    const std::size_t lane = lane_of(step);
    timed(std::array{i}, lane, [&] {
      put_move(*context_.device, plan_, step, moves_[i], memory_, scope_of(plan_, step), streams_[lane]);
    });
  }
  join(1, streams_.size() - 1);
  give(fused_.late, late_);
  join(streams_.size() - 1, streams_.size());
}

void FusedPlan::give(Steps steps, const Flags& flags) {
  if (steps.empty()) return;
  timed(steps, 0, [&] { context_.device->flags(flags.all, streams_.front()); });
}

template <class Work>
void FusedPlan::timed(Steps steps, std::size_t lane, const Work& work) {
  timed_in_stream(clock_, *context_.device, steps, static_cast<int>(lane), streams_[lane], work);
}

std::size_t FusedPlan::lane_of(const Step& step) const {
  if (captured_) return 0;
  const int other = planning::other_rank(plan_, step);
  if (other == plan_.rank) return streams_.size() - 1;
  const int distance = (other - plan_.rank - 1 + context_.size()) % context_.size();
  return static_cast<std::size_t>(distance) % (streams_.size() - 1);
}

}  // namespace partita::execution
