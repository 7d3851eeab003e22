// The part of a context that waiting, agreeing and failing have to do with.
#pragma once

#include <spdlog/logger.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <partita/context.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/board/node_board.hpp"
#include "runtime/checks/error_kind.hpp"
#include "runtime/checks/greetings.hpp"
#include "runtime/groups/process_group.hpp"
#include "runtime/home_process.hpp"

namespace partita::runtime {

class CallNotes;

/// The base of a context, independent of memory and devices, which derived classes add.
struct Runtime {
  const HomeProcess home;
  ContextOptions options;
  /// Turns that a wait spins before it yields; 0 where the node's ranks outnumber its cores.
  int spin_turns = 0;
  /// The same number on all ranks of this context, another one for every other context.
  std::uint64_t identity = 0;
  /// Of a sub-group: the context that all began with, and its ranks there. Else 0 and none.
  std::uint64_t split_from = 0;
  std::vector<int> ranks_there = {};
  std::shared_ptr<spdlog::logger> log;
  std::unique_ptr<ProcessGroup> group;
  std::unique_ptr<NodeBoard> board;  ///< in memory of the rank that created it
  /// Of executions that go between nodes without the host; null: there has been none.
  std::unique_ptr<Greetings> greetings;
  bool closed = false;
  /// What this rank executes and checks, in words.
  std::shared_ptr<CallNotes> notes;
  /// The thread that made or used the context last (`this_thread_mark`).
  std::atomic<const void*> thread = nullptr;

  int rank() const { return group->rank(); }
  int size() const { return group->size(); }
  const Topology& topology() const { return group->topology(); }
  /// The ranks of this node, by their numbers on the board.
  std::vector<int> neighbours() const { return topology().node_ranks(topology().node(rank())); }
  /// Of the context that was not split from another one, and a rank's number in it.
  std::uint64_t first_identity() const { return split_from != 0 ? split_from : identity; }
  int rank_of_first(int rank) const {
    return split_from != 0 ? ranks_there[static_cast<std::size_t>(rank)] : rank;
  }
  /// All ranks but this one.
  std::vector<int> others() const;

  /// Throws FailedContextError or ArgumentError (closed; inside `rank_zero`). The first line of every call on
  /// a context that other ranks take part in.
  void require_usable(std::string_view operation) const;
  /// The same for calls that wait for no other rank, and for those that name fewer ranks: inside `rank_zero`,
  /// too.
  void require_usable_here(std::string_view operation) const;
  /// Throws FailedContextError, in a forked child too, a DisagreementError that was found behind the rank's
  /// back, or ArgumentError (called by `on_wait`).
  void require_alive(std::string_view operation) const;
  /// Marks the context failed, here and for the other ranks; the first failure stays. Gives up the messages
  /// under way, so it is for the thread that uses the context.
  void fail(const CaughtError& why) noexcept;
  void fail(const std::string& why) noexcept;
  /// The same with the exception that is being handled.
  void fail_with_current() noexcept;
  /// The same for any other thread: the messages are given up when the one that uses the context comes by,
  /// and its next call throws a disagreement that was found so.
  void fail_beside(const CaughtError& why) noexcept;
  /// Fails the context and throws what it failed of first.
  [[noreturn]] void give_up(const CaughtError& why);
  /// Throws what the context failed of, if it has. For waits.
  void throw_failure() const;
  /// A forked child has no part in its parent's context: for it, it has failed.
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire) || !home.is_here(); }
  /// Gives up the messages under way where the context has failed. By the thread that uses the context.
  void settle_failure() const noexcept;
  /// Says that this rank takes part no more, and `how` it left unless the context was closed.
  void leave(std::string_view how, bool at_once = false) noexcept;
  std::string failure() const;

  /// ContextOptions::on_wait: not before, and whether the rank is in it.
  std::chrono::steady_clock::time_point on_wait_due{};
  bool in_on_wait = false;

  /// One number for the plans that this rank keeps and their order.
  virtual std::uint64_t hash_of_plans() const { return 0; }
  /// The ranks keep different plans, after an error that not all have met at the same place.
  virtual void forget_plans() noexcept {}

  /// Collective checks begun by all ranks together (those of subgroups do not count).
  std::uint64_t agreements = 0;
  /// Collective checks that are going on, one inside the other.
  int agreement_depth = 0;
  /// The latest error that all members of a collective check have thrown alike, and after which one.
  struct Told {
    std::string text;
    std::uint64_t agreements = 0;
  } told;

  Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  /// Does not wait for other ranks. The group of a failed context is kept until the process exits. Must not
  /// be called in a forked child (ContextState::make ensures it).
  virtual ~Runtime();

 private:
  /// The context has just failed: lets go whatever else of it waits for peers. Any thread.
  virtual void release_waits() noexcept {}
  void note_failure(const CaughtError& why, bool seen) noexcept;
  /// The ranks of other nodes.
  void tell(bool has_failed, ErrorKind kind, std::string_view text, bool of_all = false) const noexcept;

  std::atomic<bool> failed_{false};
  mutable bool settled_ = false;
  mutable std::mutex failure_mutex_;
  CaughtError failure_;
  mutable std::atomic<bool> unseen_disagreement_{false};
};

}  // namespace partita::runtime
