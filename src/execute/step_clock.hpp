// Where executors note when their steps begin and end.
#pragma once

#include <memory>
#include <partita/plan.hpp>
#include <span>

#include "device/accelerator.hpp"

namespace partita::execution {

/// Set in a context only while a timeline is recorded. Called by the thread that executes; what it does comes
/// into the measured time, so it is little.
class StepClock {
 public:
  virtual ~StepClock() = default;

  /// What is noted from here on belongs to an execution of this plan.
  virtual void execution(const Plan& plan) = 0;
  /// What is noted from here on belongs to the newest execution of this plan again: the second half of one.
  virtual void resume(const Plan& plan) = 0;
  /// The calling thread is at this step, and has done it.
  virtual void begin(std::size_t step) = 0;
  virtual void end(std::size_t step) = 0;
  /// A stream does these steps in one go; none: all steps of the plan. `line` counts the streams of the
  /// executor from 0.
  virtual void in_stream(std::span<const std::size_t> steps, int line,
                         std::unique_ptr<devices::TimedEvent> begin,
                         std::unique_ptr<devices::TimedEvent> end) = 0;
};

/// Enqueues `work` on `stream` and records the time that it takes there. `clock` null: not recorded.
template <class Work>
void timed_in_stream(StepClock* clock, devices::Accelerator& device, std::span<const std::size_t> steps,
                     int line, Stream stream, const Work& work) {
  if (clock == nullptr) return work();
  std::unique_ptr<devices::TimedEvent> begin = device.timed_event(stream);
  work();
  clock->in_stream(steps, line, std::move(begin), device.timed_event(stream));
}

}  // namespace partita::execution
