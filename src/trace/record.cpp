#include <algorithm>
#include <array>
#include <limits>
#include <partita/trace.hpp>

#include "base/check.hpp"
#include "base/host_clock.hpp"
#include "context/context_state.hpp"
#include "execute/step_clock.hpp"
#include "plan/describe.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/groups/host_identity.hpp"

namespace partita {

static auto members_of(is_a<TracedStep> auto& one) {
  return std::tie(one.kind, one.what, one.execution, one.step, one.line, one.begin, one.end);
}

namespace {

/// Notes what the executors of a context do, until it is asked.
class Recorder final : public execution::StepClock {
 public:
  void execution(const Plan& plan) override {
    current_ = plans_.size();
    plans_.push_back(plan);
    bound_.push_back(&plan);
    notes_.reserve(notes_.size() + plan.steps.size());
  }
  // The first half may have been executed before the recording began.
  void resume(const Plan& plan) override {
    const auto newest = std::find(bound_.rbegin(), bound_.rend(), &plan);
    if (newest == bound_.rend()) return execution(plan);
    current_ = static_cast<std::size_t>(bound_.rend() - newest) - 1;
  }
  void begin(std::size_t step) override { notes_.push_back({current_, step, 0, host_clock(), 0, all}); }
  void end(std::size_t /*step*/) override { notes_.back().end = host_clock(); }
  void in_stream(std::span<const std::size_t> steps, int line, std::unique_ptr<devices::TimedEvent> begin,
                 std::unique_ptr<devices::TimedEvent> end) override {
    const std::size_t interval = intervals_.size();
    intervals_.push_back({std::move(begin), std::move(end)});
    const auto note = [&](std::size_t step) { notes_.push_back({current_, step, line + 1, 0, 0, interval}); };
    if (steps.empty()) note(all);
    for (const std::size_t step : steps) note(step);
  }

  /// By the host's clock, in order of `begin`. When all streams have done what is noted here.
  std::vector<TracedStep> steps() const {
    std::vector<TracedStep> result;
    for (const Note& note : notes_) result.push_back(traced(note));
    std::ranges::stable_sort(result, {}, &TracedStep::begin);
    return result;
  }

 private:
  struct Note {
    std::size_t execution;
    std::size_t step;  ///< `all`: the whole plan
    int line;
    double begin, end;     ///< of the calling thread
    std::size_t interval;  ///< of a stream: its number in `intervals_`
  };
  struct Interval {
    std::unique_ptr<devices::TimedEvent> begin, end;
  };
  static constexpr auto all = static_cast<std::size_t>(-1);

  TracedStep traced(const Note& note) const {
    const Plan& plan = plans_[note.execution];
    TracedStep result{"all steps", plan.operation, static_cast<int>(note.execution), -1, note.line,
                      note.begin,  note.end};
    if (note.step != all) {
      const Step& step = plan.steps[note.step];
      result.kind = planning::name(step.kind);
      result.what = planning::describe(plan, step);
      result.step = static_cast<int>(note.step);
    }
    if (note.interval != all) {
      result.begin = intervals_[note.interval].begin->seconds();
      result.end = std::max(result.begin, intervals_[note.interval].end->seconds());
    }
    return result;
  }

  std::vector<Plan> plans_;         // by execution
  std::vector<const Plan*> bound_;  // which those are copies of
  std::size_t current_ = 0;
  std::vector<Note> notes_;
  std::vector<Interval> intervals_;
};

constexpr int barriers = 15;

/// Whose clock it is, and what it said whenever its rank had left a barrier.
struct Readings {
  std::array<char, 40> boot{};
  std::array<double, barriers> seconds{};
};

Readings read_clock(ContextState& state) {
  Readings mine;
  mine.boot = runtime::this_host().boot;
  for (double& seconds : mine.seconds) {
    runtime::barrier(state, "compare clocks");
    seconds = host_clock();
  }
  return mine;
}

double median_difference(const Readings& one, const Readings& other) {
  std::array<double, barriers> differences{};
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = one.seconds[i] - other.seconds[i];
  std::ranges::sort(differences);
  return differences[differences.size() / 2];
}

/// Seconds that the steady clock of each rank is ahead of that of rank 0; 0 on rank 0's machine, and the same
/// for all ranks of a machine. Collective, blocking; the same on every rank.
std::vector<double> clock_offsets(ContextState& state) {
  const std::vector<Readings> all = runtime::exchange_values(state, "compare clocks", read_clock(state));
  std::vector<double> offsets;
  for (const Readings& one : all) {
    // Of the ranks of one machine, which have one clock, the lowest represents all.
    const auto first = std::ranges::find(all, one.boot, &Readings::boot);
    offsets.push_back(first == all.begin() ? 0 : median_difference(*first, all.front()));
  }
  return offsets;
}

/// The first step of any rank begins at 0.
void count_from_first_step(Timeline& timeline) {
  double first = std::numeric_limits<double>::infinity();
  for (const auto& rank : timeline.ranks) {
    if (!rank.empty()) first = std::min(first, rank.front().begin);
  }
  for (auto& rank : timeline.ranks) {
    for (TracedStep& step : rank) {
      step.begin -= first;
      step.end -= first;
    }
  }
}

}  // namespace

Timeline record_timeline(const Context& context, const std::function<void()>& body) {
  ContextState& state = *context.state();
  runtime::collectively(state, "record a timeline", [&] {
    state.require_usable("record a timeline");
    check(static_cast<bool>(body), "record a timeline: no function is given");
    check(state.step_clock == nullptr, "record a timeline: one is being recorded already");
  });
  const std::vector<double> ahead = clock_offsets(state);
  runtime::collectively(state, "compare the clock of the device", [&] {
    if (state.device) {
      state.device->use();
      state.device->align_clock();
    }
  });
  Recorder recorder;
  std::exception_ptr thrown;
  try {
    state.step_clock = &recorder;
    const std::shared_ptr<void> recording(&recorder, [&](void*) { state.step_clock = nullptr; });
    body();
    context.synchronize();
  } catch (...) {
    thrown = std::current_exception();
    if (state.failed()) throw;
  }
  runtime::collectively(state, "the recorded work", [&] {
    if (thrown) std::rethrow_exception(thrown);
  });
  Timeline timeline{"measured", runtime::exchange_values(state, "record a timeline", recorder.steps())};
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    for (TracedStep& step : timeline.ranks[rank]) step.begin -= ahead[rank], step.end -= ahead[rank];
  }
  count_from_first_step(timeline);
  return timeline;
}

}  // namespace partita
