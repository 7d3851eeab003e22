// What the destination must hold at the end.
#pragma once

#include "plan/verify/symbolic_execution.hpp"

namespace partita::verification {

/// What every rank's destination has to hold: of a rank with contribution 0 (any rank, where the destination
/// is not partial) each element with all contributions of the source, of the others the identity. Where
/// source and destination are partial alike, nothing is reduced: every rank keeps its own contribution.
class Expectation {
 public:
  Expectation(const Problem& problem, ContributionSets& sets);
  /// One line for each rank and kind of fault.
  void check(const SymbolicExecution& execution, const ContributionSets& sets, Faults& faults) const;

 private:
  SetId expected(int rank, std::int64_t element) const;
  void check_rank(int rank, const SymbolicExecution& execution, const ContributionSets& sets,
                  Faults& faults) const;

  const Problem& problem_;
  bool stays_partial_;
  std::vector<SetId> contributions_;  // the sets {0}, {1}, ...
  std::vector<Holding> held_;         // by rank
  std::vector<SetId> values_;         // by element
};

}  // namespace partita::verification
