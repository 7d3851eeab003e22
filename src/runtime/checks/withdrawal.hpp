// A rank that executes what other ranks have not come to withdraws from it: it enters the check in which the
// others are, all throw the same error, and the context goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace partita::runtime {

struct CaughtError;
struct Question;
struct Report;
struct Runtime;

/// Of one context, among its notes.
struct Withdrawals {
  /// Counts the signals of all executions so far as seen.
  std::function<void()> forget_signals;
  bool possible = false;   ///< from the latest execution, which this rank is in
  bool under_way = false;  ///< from that one; then, in the check, of some rank
};

/// Thrown by a wait in an execution that the rank withdraws from. Only `Executor` catches it.
struct Withdrawal {};

/// While it lives, the rank may withdraw from its latest execution. For executions of the host without
/// messages, in contexts of one node without devices: they use a peer's memory only after a signal of the
/// peer, and compare executions with it then.
class MayWithdraw {
 public:
  explicit MayWithdraw(Runtime& context);
  ~MayWithdraw();
  MayWithdraw(const MayWithdraw&) = delete;
  MayWithdraw& operator=(const MayWithdraw&) = delete;

 private:
  Runtime& context_;
};

Withdrawals& withdrawals_of(Runtime& context);
const Withdrawals& withdrawals_of(const Runtime& context);

/// Whether this rank may withdraw where ranks differ in that: the execution that it is in, if none has done
/// it.
bool may_withdraw_from(const Runtime& context, const Question& difference);
/// Whether that rank of the node is in a check to which it came by withdrawing.
bool has_withdrawn(const Runtime& context, int node_rank);
/// Whether a rank shows this, in place of what keeps it from its call, because it withdraws.
bool is_withdrawal(const CaughtError& refusal);

/// The latest execution, of `operation`, has been left: reports it in the check in which the others are, or
/// to which they come, and throws what all throw. The context has failed only if some rank had done all of
/// the execution, or has executed something else before. Collective, blocking.
[[noreturn]] void withdraw(Runtime& context, std::string_view operation);

/// How many executions this rank has begun, without the one that it withdraws from.
std::uint64_t executions_that_count(const Runtime& context);

/// In a check that all ranks have come to, some by withdrawing: the executions of all go on alike from here.
/// `most`: what a rank has begun. The ranks meet once more before one executes.
void start_anew(Runtime& context, std::uint64_t most);

/// Adds to what this rank reports in such a check; and for all reports: leaves what can be compared.
void note_withdrawal(const Runtime& context, Report& report);
void compare_withdrawn(std::vector<Report>& reports, const std::vector<int>& ranks);

}  // namespace partita::runtime
