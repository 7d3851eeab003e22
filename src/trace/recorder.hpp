// Notes what the executors of a context do, until it is asked.
#pragma once

#include <partita/trace.hpp>
#include <vector>

#include "execute/step_clock.hpp"

namespace partita {

class Recorder final : public StepClock {
 public:
  void execution(const Plan& plan) override;
  void begin(std::size_t step) override;
  void end(std::size_t step) override;
  void in_stream(std::span<const std::size_t> steps, int line, std::unique_ptr<TimedEvent> begin,
                 std::unique_ptr<TimedEvent> end) override;

  /// By the host's clock, in order of `begin`. When all streams have done what is noted here.
  std::vector<TracedStep> steps() const;

 private:
  struct Note {
    std::size_t execution;
    std::size_t step;  ///< `all`: the whole plan
    int line;
    double begin, end;   ///< of the calling thread
    std::size_t stroke;  ///< of a stream: its number in `fused_`
  };
  struct Stroke {
    std::unique_ptr<TimedEvent> begin, end;
  };
  static constexpr auto all = static_cast<std::size_t>(-1);
  TracedStep traced(const Note& note) const;

  std::vector<Plan> plans_;  // by execution
  std::vector<Note> notes_;
  std::vector<Stroke> fused_;
};

}  // namespace partita
