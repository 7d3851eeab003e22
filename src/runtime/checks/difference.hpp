// What the ranks tell each other once a collective check has failed, and the error that follows from it. Pure
// functions: every rank sees the same reports and comes to the same error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checks/agree.hpp"
#include "runtime/checks/error_kind.hpp"

namespace partita {
auto members_of(is_a<Fact> auto& fact) {
  return std::tie(fact.name, fact.value);
}
}  // namespace partita

namespace partita::runtime {

/// One execution before a check.
struct ExecutedBefore {
  std::uint64_t number = 0;
  std::uint64_t chain = 0;  ///< as of ExecutionHistory
  std::string operation;
  std::vector<Fact> facts;
};

auto members_of(is_a<ExecutedBefore> auto& one) {
  return std::tie(one.number, one.chain, one.operation, one.facts);
}

struct Report {
  std::string operation;
  bool threw = false;
  bool refused = false;     ///< it threw before it came to the operation, and could not know its first check
  CaughtError error;        ///< if it threw
  std::vector<Fact> facts;  ///< if it did not
  std::uint64_t plans = 0;  ///< Runtime::hash_of_plans
  std::vector<ExecutedBefore> executed = {};  ///< the latest, where the ranks have executed different things
};

auto members_of(is_a<Report> auto& report) {
  return std::tie(report.operation, report.threw, report.refused, report.error.kind, report.error.text,
                  report.facts, report.plans, report.executed);
}

/// Where the operations or the facts differ, in words: `the ranks called different operations: ...`, or
/// `redistribute: the ranks disagree on ...`. `reports[i]` is of rank `ranks[i]`, in increasing order.
std::optional<std::string> difference_text(std::span<const Report> reports, const std::vector<int>& ranks);

/// Throws what the reports say: DisagreementError where the operations differ of those that came to them,
/// else the error of the lowest rank that threw, else DisagreementError on the facts. `reports[i]` is of rank
/// `ranks[i]`, in increasing order.
[[noreturn]] void throw_difference(std::span<const Report> reports, const std::vector<int>& ranks);

}  // namespace partita::runtime
