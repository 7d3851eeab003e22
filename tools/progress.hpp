// How far long work is: a bar on stderr, where that is a terminal, and how long each phase took.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace partita::tools {

/// Phases that follow each other; a thread keeps the bar's clock running. `shown`: on one rank only. Not
/// thread-safe.
class Progress {
 public:
  Progress(std::vector<std::string> phases, bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void next();  ///< the next phase begins (the first one with the constructor)
  void done();  ///< all phases are over; the line is cleared

  /// Of the phases that are over, in order; also where nothing is shown.
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  void end_phase();

  std::size_t phases_;
  Clock::time_point phase_begin_ = Clock::now();
  std::vector<double> seconds_;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace partita::tools
