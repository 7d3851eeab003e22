// The bytes that executors move, counted while a program asks for it.
#include <partita/trace.hpp>

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "execute/step_clock.hpp"

namespace partita {

struct TrafficRecord::State final : execution::StepClock {
  explicit State(std::shared_ptr<ContextState> of) : context(std::move(of)) { context->step_clock = this; }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() override { stop(); }

  void stop() {
    if (context) context->step_clock = nullptr;
    context.reset();
  }

  void execution(const Plan& plan) override {
    executions.push_back({plan.operation, plan.method, traffic(plan)});
  }
  void resume(const Plan& /*plan*/) override {}
  void begin(std::size_t /*step*/) override {}
  void end(std::size_t /*step*/) override {}
  void in_stream(std::span<const std::size_t> /*steps*/, int /*line*/,
                 std::unique_ptr<devices::TimedEvent> /*begin*/,
                 std::unique_ptr<devices::TimedEvent> /*end*/) override {}

  std::shared_ptr<ContextState> context;  // null: stopped
  std::vector<ExecutedTraffic> executions;
};

TrafficRecord::TrafficRecord(const Context& context) {
  check(context.state() != nullptr, "record traffic: the context has been moved away");
  context.state()->require_alive("record traffic");
  check(context.state()->step_clock == nullptr, "record traffic: this context is already being recorded");
  state_ = std::make_unique<State>(context.state());
}

TrafficRecord::~TrafficRecord() = default;
TrafficRecord::TrafficRecord(TrafficRecord&&) noexcept = default;
TrafficRecord& TrafficRecord::operator=(TrafficRecord&&) noexcept = default;

void TrafficRecord::stop() {
  state_->stop();
}

const std::vector<ExecutedTraffic>& TrafficRecord::executions() const {
  return state_->executions;
}

}  // namespace partita
