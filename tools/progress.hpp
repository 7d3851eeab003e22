// A progress bar on stderr, where that is a terminal.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace partita::tools {

/// Phases that follow each other; a thread keeps the clock running. `shown`: on one rank only. Not
/// thread-safe.
class Progress {
 public:
  Progress(std::vector<std::string> phases, bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void next();  ///< the next phase begins (the first one with the constructor)
  void done();  ///< all phases are over; the line is cleared

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace partita::tools
