// A run on symbols instead of numbers: of a plan that moves data and computes nothing.
#pragma once

#include "plan/verify/execution.hpp"

namespace partita::verification {

class SymbolicExecution final : public ExecutionOn<Symbol> {
 public:
  /// The source holds its contributions.
  SymbolicExecution(const Problem& problem, ContributionSets& sets, SendMode mode, Faults& faults);
  using Execution::memory;

 private:
  void run_local(int rank, const Step& step) override;
  void move(int rank, const Step& step);
  void fill(int rank, const Step& step);

  void check_target(int rank, const Place& place) const;
  std::vector<Symbol> load(const Place& place, const Region& region) const;
  void store(const Place& place, std::int64_t slot, Symbol value);
  void join(const Place& place, std::int64_t slot, Symbol value);
  void check_reduction(Reduction reduction) const;
  std::string stale_text(const Place& place, std::int64_t expected, Symbol found) const;
  std::string element(std::int64_t number) const;

  const Problem& problem_;
  ContributionSets& sets_;
};

}  // namespace partita::verification
