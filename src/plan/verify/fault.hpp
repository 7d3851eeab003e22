// What is wrong with a plan: thrown where it is found, collected by line.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace partita::verification {

/// A fault of the step in hand. Never leaves verify.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The lines of a verdict: no line twice, no more than 20.
class Faults {
 public:
  static constexpr std::size_t most = 20;

  void add(std::string line) {
    if (full() || std::find(lines_.begin(), lines_.end(), line) != lines_.end()) return;
    lines_.push_back(std::move(line));
  }
  bool full() const { return lines_.size() >= most; }
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace partita::verification
