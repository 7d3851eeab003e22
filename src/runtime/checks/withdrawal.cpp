#include "runtime/checks/withdrawal.hpp"

#include <algorithm>
#include <partita/error.hpp>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/announcement.hpp"
#include "runtime/checks/common_facts.hpp"
#include "runtime/checks/node_questions.hpp"
#include "runtime/checks/public_call.hpp"
#include "runtime/groups/rendezvous.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

constexpr std::string_view withdrawal_text = "withdraws from an execution";
constexpr const char* which_call = "the call";

const ExecutionHistory& executions_of(const Runtime& context) {
  return context.board->executions(context.board->me());
}

/// What `mix` joins to `hash` to get `wanted`: the inverse of its steps.
std::uint64_t value_that_gives(std::uint64_t hash, std::uint64_t wanted) {
  std::uint64_t value = wanted ^ (wanted >> 31U) ^ (wanted >> 62U);
  value *= 0x319642b2d24d8ec3U;
  value ^= (value >> 27U) ^ (value >> 54U);
  value *= 0x96de1b173f119089U;
  value ^= (value >> 30U) ^ (value >> 60U);
  return (value - hash) * 0xf1de83e19937733dU - 1;
}

}  // namespace

Withdrawals& withdrawals_of(Runtime& context) {
  return static_cast<NotesOfNodes&>(*context.notes).withdrawals;
}

const Withdrawals& withdrawals_of(const Runtime& context) {
  return static_cast<const NotesOfNodes&>(*context.notes).withdrawals;
}

MayWithdraw::MayWithdraw(Runtime& context) : context_(context) {
  withdrawals_of(context_).possible = true;
}

MayWithdraw::~MayWithdraw() {
  withdrawals_of(context_).possible = false;
}

bool may_withdraw_from(const Runtime& context, const Question& difference) {
  if (!withdrawals_of(context).possible || difference.about != Question::About::execution) return false;
  const NodeBoard& board = *context.board;
  const std::uint64_t mine = executions_of(context).number();
  for (int number = 0; number < board.node_ranks(); ++number) {
    const NodeBoard::Status theirs = board.status(number);
    if (theirs.executions > mine || theirs.failed || theirs.left) return false;
  }
  return difference.number == mine;
}

bool is_withdrawal(const CaughtError& refusal) {
  return refusal.kind == ErrorKind::disagreement && refusal.text == withdrawal_text;
}

bool has_withdrawn(const Runtime& context, int node_rank) {
  const auto refusal = context.board->refusal(node_rank);
  return refusal && is_withdrawal(*refusal);
}

void withdraw(Runtime& context, std::string_view operation) {
  Report report;
  report.operation = operation;
  if (auto executed = context.notes->execution(executions_of(context).number(), false)) report = *executed;
  report.executed = latest_executions(context);
  Withdrawals& mine = withdrawals_of(context);
  mine.under_way = true;
  const CaughtError shown{ErrorKind::disagreement, std::string(withdrawal_text)};
  Rendezvous rendezvous(context, operation, {}, &shown);
  Summary summary = Summary::of(hash_of(operation));
  summary.withdrew = 1;
  resolve(rendezvous, summary, [&] { return report; });
  throw DisagreementError(std::string(withdrawal_text));  // resolve has thrown it
}

std::uint64_t executions_that_count(const Runtime& context) {
  return executions_of(context).number() - (withdrawals_of(context).under_way ? 1 : 0);
}

// A history can only grow. All ranks get the same number, and the same chain by joining what leads to it.
void start_anew(Runtime& context, std::uint64_t most) {
  const ExecutionHistory& mine = executions_of(context);
  const std::uint64_t chain = mix(mine.chain(executions_that_count(context)).value_or(0), most);
  withdrawals_of(context).under_way = true;  // until all have done this, histories differ
  const auto add = [&](std::uint64_t hash) {
    context.notes->note(mine.number() + 1, false, {});
    context.board->begin_execution(hash, withdrawal_text);
  };
  if (mine.number() == most) context.notes->note(most, false, {});
  while (mine.number() < most) add(0);
  add(value_that_gives(mine.chain(mine.number()).value_or(0), chain));
  if (withdrawals_of(context).forget_signals) withdrawals_of(context).forget_signals();
}

void note_withdrawal(const Runtime& context, Report& report) {
  const ExecutionHistory& mine = executions_of(context);
  const bool withdraws = withdrawals_of(context).under_way;
  report.facts.push_back({which_call, withdraws ? fmt::format("one that it has made before (history {:016x})",
                                                              mine.chain(mine.number()).value_or(0))
                                                : "another one"});
}

void compare_withdrawn(std::vector<Report>& reports, const std::vector<int>& ranks) {
  const auto thrown = std::ranges::find(reports, true, &Report::threw);
  if (thrown != reports.end()) {  // the reason for the others to withdraw, whatever they are in
    for (Report& report : reports) {
      report.operation = thrown->operation;
      std::erase_if(report.facts, [](const Fact& fact) { return fact.name == of_the_program; });
    }
    return;
  }
  std::vector<Report> with_calls = reports;
  for (Report& report : reports)
    std::erase_if(report.facts, [](const Fact& fact) { return fact.name == which_call; });
  keep_common_facts(reports);
  if (difference_text(reports, ranks)) return;
  keep_common_facts(with_calls);
  reports = std::move(with_calls);
}

}  // namespace partita::runtime
