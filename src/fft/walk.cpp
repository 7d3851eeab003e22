#include "fft/walk.hpp"

#include <algorithm>

#include "fft/layouts.hpp"
#include "fft/overlap.hpp"
#include "fft/owned_lines.hpp"
#include "fft/through_cache.hpp"

namespace partita::fourier {
namespace {

bool changes_dtype(const Problem& problem, const Stage& stage) {
  const int halved = problem.halved_axis();
  return halved >= 0 && contains(stage.axes, halved);
}

// Whether lines lie next to each other in memory.
bool has_fastest(const Operand& operand, const std::vector<int>& axes) {
  for (int i = operand.axis_order.size() - 1; i >= 0; --i) {
    const auto axis = static_cast<int>(operand.axis_order[i]);
    if (operand.layout.shape()[axis] > 1) return contains(axes, axis);
  }
  return true;
}

}  // namespace

// --- works

Region transformed(const Problem& problem, const Stage& stage, const Region& before) {
  Region after = before;
  if (!after.empty() && changes_dtype(problem, stage)) {
    const int halved = problem.halved_axis();
    after.sets[static_cast<std::size_t>(halved)] = IndexSet::range(0, stage.after.shape()[halved]);
  }
  return after;
}

std::vector<Work> transforms(const Problem& problem, const Stage& stage, bool last, const Region& before,
                             const Place& from, const Place& to, const Place& between) {
  Extents axes;
  for (const int axis : stage.axes) axes.push_back(axis);
  const Region after = transformed(problem, stage, before);
  if (!changes_dtype(problem, stage)) {
    return {Transform{{before, from}, {after, to}, axes, problem.kind, 0, last}};
  }
  const std::int64_t n = problem.real_length;
  if (problem.halves) {
    return {Transform{{before, from}, {after, to}, axes, TransformKind::real_to_complex, n, last}};
  }
  std::vector<Work> works;
  if (axes.size() > 1) {
    Extents others(std::span(axes.begin(), axes.end() - 1));
    works.push_back(Transform{{before, from}, {before, between}, others, problem.kind, 0, false});
  }
  const Place& source = axes.size() > 1 ? between : from;
  works.push_back(Transform{
      {before, source}, {after, to}, {axes[axes.size() - 1]}, TransformKind::complex_to_real, n, last});
  return works;
}

// --- the walk

Walk::Walk(Steps& steps, const Problem& problem, bool in_place)
    : steps_(steps),
      problem_(problem),
      current_(in_place ? output : input),
      one_node_(on_one_node(problem.topology)) {}

void Walk::run(const Scheme& scheme) {
  last_ = &scheme.stages.back();
  first_stage(scheme.stages.front(), scheme.stages.size() > 1 ? &scheme.stages[1] : nullptr);
  for (std::size_t i = 1; i < scheme.stages.size(); ++i) next_stage(scheme.stages[i]);
  finish();
}

int Walk::add_array(const Layout& layout, Dtype dtype) {
  return steps_.add_array(layout, dtype, problem_.input.axis_order);
}

bool Walk::reachable_in_place(int buffer) const {
  const Operand& array = operand(buffer);
  return array.residency == Residency::heap && array.dense && is_plain(array.layout) &&
         has_few_runs(array.layout);
}

bool Walk::handed_over_in_place(const Stage& stage, int from) const {
  return one_node_ && reachable_in_place(from) && is_plain(stage.before) &&
         ThroughCache::steps_needed(operand(from), stage) <= ThroughCache::most_steps;
}

void Walk::first_stage(const Stage& stage, const Stage* next) {
  if (!same(operand(current_).layout, stage.before)) {
    const bool rests = next == nullptr && !changes_dtype(problem_, stage) &&
                       same(operand(output).layout, stage.before) && current_ != output;
    const int to = rests ? output : add_array(stage.before, problem_.input.dtype);
    hand_over(to);
  }
  if (stage.axes.empty()) return;
  // The result's own memory serves for what stands between the stages, where it has the right layout.
  const bool done = problem_.doubles ? next == nullptr : true;
  const bool fits = done && same(operand(output).layout, stage.after);
  const bool peers_read = next != nullptr && one_node_;
  int to = current_;
  if (fits && (!peers_read || reachable_in_place(output))) {
    to = output;
  } else if (current_ == input || current_ == output || changes_dtype(problem_, stage)) {
    to = add_array(stage.after, done ? problem_.dtype : problem_.input.dtype);
  }
  transform(stage, current_, to);
}

// Inside a node the lines are gathered from whoever has them; between nodes the array is redistributed first.
void Walk::next_stage(const Stage& stage) {
  if (handed_over_in_place(stage, current_)) {
    transform_pending();
    const int to = stored(stage);
    ThroughCache(steps_, problem_, stage, is_last(stage), current_, to).run();
    current_ = to;
    return;
  }
  const bool changes = changes_dtype(problem_, stage);
  const bool ends = is_last(stage) && current_ != output && same(operand(output).layout, stage.after);
  const Dtype before = operand(current_).dtype;
  const int arrived = ends && !changes ? output : add_array(stage.before, before);
  hand_over(arrived);
  const int to = ends ? output : changes ? add_array(stage.after, problem_.dtype) : arrived;
  transform(stage, arrived, to);
}

/// Where a stage that goes through cache stores its lines: in the result if it is the last; there, or where
/// they came from, in the memory of the peers.
int Walk::stored(const Stage& stage) {
  const Dtype after = changes_dtype(problem_, stage) ? problem_.dtype : operand(current_).dtype;
  if (is_last(stage)) {
    if (same(operand(output).layout, stage.after) || reachable_in_place(output)) return output;
    if (same(operand(output).layout, operand(current_).layout) && after == operand(current_).dtype &&
        current_ != input) {
      return current_;
    }
  }
  return add_array(stage.after, after);
}

void Walk::finish() {
  if (current_ != output) hand_over(output);
  transform_pending();
  steps_.settle();
}

void Walk::transform(const Stage& stage, int from, int to) {
  pending_ = Pending{&stage, from, to};
  current_ = to;
}

/// Whether what is transformed passes through memory that is neither that of `from` nor that of `to`.
bool Walk::needs_scratch(const Pending& pending) const {
  return problem_.doubles && changes_dtype(problem_, *pending.stage) && pending.stage->axes.size() > 1;
}

void Walk::transform_pending() {
  if (!pending_) return;
  const Pending now = *pending_;
  const Stage& stage = *now.stage;
  pending_.reset();
  if (has_fastest(operand(now.from), stage.axes) && !needs_scratch(now)) {
    const Region own = stage.before.region(steps_.rank());
    transform_owned(steps_, problem_, stage, is_last(stage), own, now.from, now.to);
  } else {
    ThroughCache(steps_, problem_, stage, is_last(stage), now.from, now.to).run();
  }
}

void Walk::hand_over(int to) {
  redistribution::Parts parts;
  if (pending_ && !(needs_scratch(*pending_) && pending_->from == input)) {
    const Operand array = operand(current_);
    parts = parts_of(problem_, array.layout, array.dtype, pending_->stage->axes, operand(to).layout);
  }
  if (parts.count == 1) transform_pending();
  const auto make = [&](const Region& part) {
    if (!pending_) return;
    Region lines = part;
    const Stage& stage = *pending_->stage;
    for (const int axis : stage.axes) {  // the halved one has another extent before
      lines.sets[static_cast<std::size_t>(axis)] = IndexSet::range(0, stage.before.shape()[axis]);
    }
    transform_owned(steps_, problem_, stage, is_last(stage), lines, pending_->from, pending_->to);
  };
  steps_.redistribute(current_, to, problem_.options.scratch_bytes, parts, make);
  pending_.reset();
  current_ = to;
}

}  // namespace partita::fourier
