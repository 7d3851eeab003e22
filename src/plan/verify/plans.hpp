// What verify was asked: the plans of all ranks; and what is wrong with them.
#pragma once

#include <algorithm>
#include <partita/plan.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/work.hpp"

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

struct Plans {
  std::vector<Plan> plans;  ///< by rank

  int ranks() const { return static_cast<int>(plans.size()); }
  const Plan& plan(int rank) const { return plans[static_cast<std::size_t>(rank)]; }
  const Buffer& buffer(int number) const { return plans.front().buffers[static_cast<std::size_t>(number)]; }
  /// Bytes that one cell of the buffer represents: an element, or, for scratch of several dtypes, the
  /// smallest element.
  std::int64_t item(int buffer) const;
};

/// "rank 1, step 3 (copy ...)".
std::string label(const Plan& plan, int rank, std::size_t step);

/// Asks the planner for every rank's plan; throws ArgumentError where these buffers hold no operands of all
/// ranks.
Plans ask(const Planner& planner, std::span<const int> operands);
/// What must hold before a step can be run: buffers that are the same on all ranks, and steps that name
/// ranks, buffers, channels, messages and dimensions that exist.
void check_structure(const Plans& plans, Faults& faults);

}  // namespace partita::verification
