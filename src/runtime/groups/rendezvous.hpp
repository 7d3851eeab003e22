// A rendezvous of ranks: the rounds of messages under every collective check, exchange and barrier.
#pragma once

#include <cstdint>
#include <partita/fact.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita::runtime {

class CallNotes;
struct CaughtError;
struct Runtime;
struct Report;

/// Who takes part: ranks of a context, each named once, in increasing order; empty: all ranks.
struct Members {
  std::vector<int> ranks;
};

/// What one rank brings, and after the rendezvous what all brought together. Everything in it is a minimum or
/// a maximum, so that a value that arrives twice does no harm (dissemination sends some of them twice).
struct Summary {
  std::uint64_t operation_smallest = 0, operation_largest = 0;  ///< hash of the operation's name
  std::uint64_t facts_smallest = 0, facts_largest = 0;          ///< hash of what must agree
  std::uint64_t history_smallest = 0, history_largest = 0;      ///< of what was executed before
  std::int64_t bytes_smallest = 0, bytes_largest = 0;           ///< of what will be gathered
  std::uint64_t threw = 0;                                      ///< 1: the local part threw on some rank
  std::uint64_t largest = 0;                                    ///< the largest value that a rank brought
  std::uint64_t executions = 0;                                 ///< the most that a rank has begun
  std::uint64_t withdrew = 0;                                   ///< 1: a rank has left an execution for this

  static Summary of(std::uint64_t operation, std::uint64_t facts = 0);
  void join(const Summary& other);
  bool agreed() const {
    return operation_smallest == operation_largest && facts_smallest == facts_largest && executed_alike() &&
           threw == 0 && withdrew == 0;
  }
  bool executed_alike() const { return history_smallest == history_largest; }
};

/// One collective call. While it lives, the node's board shows this rank in an agreement (a rendezvous of all
/// ranks only). Messages that are under way when it ends in an exception keep their memory until exit.
class Rendezvous {
 public:
  /// Throws FailedContextError. `operation` must outlive the rendezvous. `refusal`: what kept this rank from
  /// it.
  Rendezvous(Runtime& state, std::string_view operation, Members members = {},
             const CaughtError* refusal = nullptr);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  int size() const { return size_; }
  std::string_view operation() const { return operation_; }
  int rank(int position) const;  ///< of the context
  CallNotes& notes() const;
  std::uint64_t hash_of_plans() const;  ///< of this rank; 0 where not all ranks meet
  void forget_plans();                  ///< those of all members differ
  bool of_all() const { return members_.ranks.empty(); }
  /// Who has not come yet, as far as this rank knows; if of nobody else, `awaited`.
  std::vector<int> not_here(int awaited) const;

  /// The summary of all members, where all ranks meet also of what they have executed before, in ceil(log2 P)
  /// rounds of one message of fixed size (dissemination: Hensgen, Finkel, Manber 1988). A member that is in a
  /// rendezvous of other members fails the context with DisagreementError. Blocking.
  Summary join(Summary summary);

  /// `report` says what this rank has executed before; `only`: in place of what it brings to this rendezvous.
  void report_history(Report& report, bool only) const;
  /// Some rank has withdrawn from an execution: what this rank adds to its report, and what all do before
  /// they gather the reports. See withdrawal.hpp.
  void note_withdrawal(Report& report) const;
  void start_anew(const Summary& all);
  void end_withdrawal();
  /// The ranks have executed different things: results are undefined from there. All members throw this.
  void fail(const CaughtError& why);
  /// Notes that all members now throw an error with this text, so that it is not reported to them again.
  void note_told(std::string_view text);

  /// The bytes of every member, by position, in ceil(log2 P) rounds (Bruck et al. 1997). Unless all members
  /// know that the sizes are equal, those are gathered first. Blocking.
  std::vector<std::string> gather(std::string_view mine, bool equal_sizes);

 private:
  class Messages;
  std::vector<std::int64_t> gather_sizes(std::int64_t mine);
  std::vector<std::string> gather_pieces(std::string_view mine, const std::vector<std::int64_t>& sizes);
  int at(int distance) const;  ///< the rank so many positions after mine
  std::uint64_t number() const;
  [[noreturn]] void refuse(int peer, const std::string& theirs, const std::vector<int>& their_members);

  Runtime& state_;
  std::string_view operation_;
  Members members_;
  int size_;
  int position_;
  std::uint64_t members_hash_;
};

/// Every member's bytes, by position (see `exchange` of checks/agree.hpp). Where members come with other
/// facts, all throw before anyone has the bytes. Blocking.
std::vector<std::string> exchange(Rendezvous& rendezvous, std::string_view mine,
                                  std::span<const Fact> facts = {});

}  // namespace partita::runtime
