#include "trace/recorder.hpp"

#include <algorithm>

#include "base/host_clock.hpp"
#include "plan/describe.hpp"

namespace partita {

void Recorder::execution(const Plan& plan) {
  plans_.push_back(plan);
  notes_.reserve(notes_.size() + plan.steps.size());
}

void Recorder::begin(std::size_t step) {
  notes_.push_back({plans_.size() - 1, step, 0, host_clock(), 0, all});
}

void Recorder::end(std::size_t /*step*/) {
  notes_.back().end = host_clock();
}

void Recorder::in_stream(std::span<const std::size_t> steps, int line, std::unique_ptr<TimedEvent> begin,
                         std::unique_ptr<TimedEvent> end) {
  const std::size_t stroke = fused_.size();
  fused_.push_back({std::move(begin), std::move(end)});
  const auto note = [&](std::size_t step) {
    notes_.push_back({plans_.size() - 1, step, line + 1, 0, 0, stroke});
  };
  if (steps.empty()) note(all);
  for (const std::size_t step : steps) note(step);
}

TracedStep Recorder::traced(const Note& note) const {
  const Plan& plan = plans_[note.execution];
  TracedStep result{"all steps", plan.operation, static_cast<int>(note.execution), -1, note.line,
                    note.begin,  note.end};
  if (note.step != all) {
    const Step& step = plan.steps[note.step];
    result.kind = name(step.kind);
    result.what = describe(plan, step);
    result.step = static_cast<int>(note.step);
  }
  if (note.stroke != all) {
    result.begin = fused_[note.stroke].begin->seconds();
    result.end = std::max(result.begin, fused_[note.stroke].end->seconds());
  }
  return result;
}

std::vector<TracedStep> Recorder::steps() const {
  std::vector<TracedStep> result;
  for (const Note& note : notes_) result.push_back(traced(note));
  std::ranges::stable_sort(result, {}, &TracedStep::begin);
  return result;
}

}  // namespace partita
