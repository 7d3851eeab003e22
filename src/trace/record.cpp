#include <algorithm>
#include <limits>
#include <partita/trace.hpp>

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "runtime/agree.hpp"
#include "trace/clock_offsets.hpp"
#include "trace/recorder.hpp"

namespace partita {

static auto members_of(is_a<TracedStep> auto& one) {
  return std::tie(one.kind, one.what, one.execution, one.step, one.line, one.begin, one.end);
}

namespace {

/// The recorder is the context's clock while this lives.
class Recording {
 public:
  Recording(ContextState& state, Recorder& recorder) : state_(state) { state_.step_clock = &recorder; }
  ~Recording() { state_.step_clock = nullptr; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  ContextState& state_;
};

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
  collectively(state, "record a timeline", [&] {
    state.require_usable("record a timeline");
    check(static_cast<bool>(body), "record a timeline: there is nothing to call");
    check(state.step_clock == nullptr, "record a timeline: one is being recorded already");
  });
  const std::vector<double> ahead = clock_offsets(state);
  collectively(state, "compare the clock of the device", [&] {
    if (state.device) {
      state.device->use();
      state.device->align_clock();
    }
  });
  Recorder recorder;
  std::exception_ptr thrown;
  try {
    const Recording recording(state, recorder);
    body();
    context.synchronize();
  } catch (...) {
    thrown = std::current_exception();
    if (state.failed()) throw;
  }
  collectively(state, "the recorded work", [&] {
    if (thrown) std::rethrow_exception(thrown);
  });
  Timeline timeline{"measured", exchange_values(state, "record a timeline", recorder.steps())};
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    for (TracedStep& step : timeline.ranks[rank]) step.begin -= ahead[rank], step.end -= ahead[rank];
  }
  count_from_first_step(timeline);
  return timeline;
}

}  // namespace partita
