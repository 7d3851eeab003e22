// How far long work is: a bar on stderr, where that is a terminal, and how long each phase took.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
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

  /// A line on stdout for each phase, but those of `left_out`, and one for all: how long it took, and what
  /// `rate` says of its seconds. When all are over; also where no bar is shown.
  using Rate = std::function<std::string(const std::string& phase, double seconds)>;
  void print(const Rate& rate, const std::string& left_out = "") const;

 private:
  using Clock = std::chrono::steady_clock;
  void draw() const;

  const std::vector<std::string> phases_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point phase_begin_ = begin_;
  std::vector<double> seconds_;  // of the phases that are over
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread bar_;
};

}  // namespace partita::tools
