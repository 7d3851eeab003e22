#include "execute/fused_exchange.hpp"

#include <algorithm>
#include <utility>

#include "plan/channels.hpp"
#include "plan/moves.hpp"
#include "plan/touched.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

bool is_flag(const Step& step) {
  return step.kind == StepKind::signal || step.kind == StepKind::wait;
}

bool is_operand(const Plan& plan, const Place& place) {
  return buffer_of(plan, place).kind == BufferKind::operand;
}

bool is_own_shared(const Plan& plan, const Place& place) {
  return place.rank == plan.rank && buffer_of(plan, place).kind == BufferKind::shared;
}

bool is_pack(const Plan& plan, const Step& step) {
  return step.kind == StepKind::copy && is_own_shared(plan, step.to) && is_operand(plan, step.from) &&
         step.from.rank == plan.rank;
}

/// A place that steps of kinds other than copies and flags never touch.
bool is_move(const Plan& plan, const Step& step) {
  const bool joins = step.kind == StepKind::accumulate && step.to.rank == plan.rank;
  return (step.kind == StepKind::copy || joins) && is_operand(plan, step.to) &&
         buffer_of(plan, step.from).kind != BufferKind::scratch;
}

bool same_place(const Step& a, const Step& b) {
  return a.to.buffer == b.to.buffer && a.to.rank == b.to.rank && a.to.offset == b.to.offset &&
         a.region == b.region;
}

}  // namespace

std::optional<FusedExchange> FusedExchange::of(const Plan& plan) {
  FusedExchange fused(plan);
  for (const Step& step : plan.steps) {
    // A second signal of a kind says that something is done again.
    if (step.kind == StepKind::wait && step.count != 1) return std::nullopt;
    if (!is_flag(step) && !is_pack(plan, step) && !is_move(plan, step)) return std::nullopt;
  }
  if (!fused.sort_moves() || fused.packs_twice() || fused.reads_what_is_written()) return std::nullopt;
  fused.sort_flags();
  return fused;
}

bool FusedExchange::sort_moves() {
  std::vector<Steps> groups;
  for (std::size_t i = 0; i < plan_->steps.size(); ++i) {
    const Step& step = plan_->steps[i];
    if (is_flag(step)) continue;
    if (is_pack(*plan_, step)) {
      packs_.push_back(i);
    } else if (!add_move(i, groups)) {
      return false;
    }
  }
  for (Steps& group : groups) {
    if (group.size() == 1) {
      copies_.push_back(group.front());
    } else {
      joins_.push_back(std::move(group));
    }
  }
  return true;
}

/// What is joined comes into the place of an earlier copy.
bool FusedExchange::add_move(std::size_t index, std::vector<Steps>& groups) const {
  const Step& step = plan_->steps[index];
  if (step.kind == StepKind::copy) {
    groups.push_back({index});
    return true;
  }
  const auto found = std::ranges::find_if(
      groups, [&](const Steps& group) { return same_place(plan_->steps[group.front()], step); });
  if (found == groups.end()) return false;
  const Step& last = plan_->steps[found->back()];
  if (last.kind == StepKind::accumulate && last.reduction != step.reduction) return false;
  found->push_back(index);
  return true;
}

/// A place that is used again has been read in between.
bool FusedExchange::packs_twice() const {
  LastTouch packed;
  return std::ranges::any_of(packs_, [&](std::size_t i) {
    const Step& step = plan_->steps[i];
    const std::int64_t last = step.to.offset + moved_bytes(*plan_, step);
    const MemoryRange range{step.to.buffer, step.to.rank, step.to.offset, last};
    const bool is_twice = packed.last(range) >= 0;
    packed.touch(range, static_cast<int>(i));
    return is_twice;
  });
}

/// Of moves. Packs come before them.
bool FusedExchange::reads_what_is_written() const {
  std::vector<bool> written(plan_->buffers.size(), false);
  const auto is_of_moves = [&](const Step& step) { return !is_flag(step) && !is_pack(*plan_, step); };
  for (const Step& step : plan_->steps) {
    if (is_of_moves(step)) written[static_cast<std::size_t>(step.to.buffer)] = true;
  }
  return std::ranges::any_of(plan_->steps, [&](const Step& step) {
    return is_of_moves(step) && written[static_cast<std::size_t>(step.from.buffer)];
  });
}

void FusedExchange::sort_flags() {
  for (std::size_t i = 0; i < plan_->steps.size(); ++i) {
    const Step& step = plan_->steps[i];
    if (is_flag(step)) (opens(step.channel) ? early_ : late_).push_back(i);
  }
  for (Steps* const flags : {&early_, &late_}) {
    std::stable_partition(flags->begin(), flags->end(),
                          [&](std::size_t i) { return plan_->steps[i].kind == StepKind::signal; });
  }
  early_flags_.reserve(early_.size());
  late_flags_.reserve(late_.size());
}

void FusedExchange::reserve(const std::vector<std::vector<StridedCopy>>& moves) {
  std::size_t nests = 0;
  for (const std::vector<StridedCopy>& move : moves) nests += move.size();
  for (auto* const placed : {&placed_packs_, &placed_copies_, &placed_parts_}) placed->reserve(nests);
  placed_joins_.reserve(joins_.size());
}

void FusedExchange::place(std::size_t index, const std::vector<std::vector<StridedCopy>>& moves,
                          const PlanMemory& memory, std::vector<PlacedCopy>& to) const {
  const Step& step = plan_->steps[index];
  const bool inside = other_rank(*plan_, step) == plan_->rank;
  for (const StridedCopy& nest : moves[index]) {
    to.push_back({&nest, memory.address(step.from), memory.address(step.to), inside});
  }
}

std::span<const PlacedCopy> FusedExchange::place_copies(const std::vector<std::vector<StridedCopy>>& moves,
                                                        const PlanMemory& memory) {
  placed_copies_.clear();
  for (const std::size_t i : copies_) place(i, moves, memory, placed_copies_);
  return placed_copies_;
}

PeerExchange FusedExchange::collect(const std::vector<std::vector<StridedCopy>>& moves,
                                    const PlanMemory& memory, FlagBoard& flags) {
  for (auto* const placed : {&placed_packs_, &placed_parts_}) placed->clear();
  early_flags_.clear();
  late_flags_.clear();
  placed_joins_.clear();
  for (const std::size_t i : packs_) place(i, moves, memory, placed_packs_);
  place_copies(moves, memory);
  for (const Steps& join : joins_) {
    const std::size_t first = placed_parts_.size();
    for (const std::size_t i : join) place(i, moves, memory, placed_parts_);
    const Step& last = plan_->steps[join.back()];
    placed_joins_.push_back({std::span(placed_parts_).subspan(first), moves[join.front()].size(),
                             dtype_at(*plan_, last.to), last.reduction});
  }
  const auto put = [&](const Steps& steps, std::vector<FlagOperation>& to) {
    std::size_t signals = 0;
    for (const std::size_t i : steps) {
      const Step& step = plan_->steps[i];
      const bool is_signal = step.kind == StepKind::signal;
      if (is_signal) ++signals;
      to.push_back(is_signal ? flags.signal(step.peer, step.channel)
                             : flags.wait(step.peer, step.channel, step.count));
    }
    return std::pair(std::span<const FlagOperation>(to).first(signals),
                     std::span<const FlagOperation>(to).subspan(signals));
  };
  const auto [early_signals, early_waits] = put(early_, early_flags_);
  const auto [late_signals, late_waits] = put(late_, late_flags_);
  return {placed_packs_, early_signals, early_waits, placed_copies_, placed_joins_, late_signals, late_waits};
}

}  // namespace partita
