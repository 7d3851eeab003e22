// Counters and status cells that the ranks of one node share: signals without messages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/checks/error_kind.hpp"
#include "runtime/checks/execution_history.hpp"

namespace partita::runtime {

/// Lies in zero-initialised memory that all ranks of the node map (NodeMemory::control). Lock-free; a signal
/// is a release, reading a counter an acquire. Ranks here are numbered within the node. Each rank writes only
/// its own cells and its own card, so a rank that dies leaves nothing locked.
class NodeBoard {
 public:
  static constexpr int channels = 8;
  static constexpr std::size_t most_lent = 16;  ///< buffers of a plan
  static std::int64_t bytes(int node_ranks);
  NodeBoard(void* memory, int node_ranks, int my_node_rank);

  int node_ranks() const { return node_ranks_; }
  int me() const { return me_; }

  /// What a rank is doing, for its neighbours to see.
  struct Status {
    std::uint64_t executions = 0;  ///< plans begun
    std::uint64_t agreements = 0;  ///< collective checks begun
    bool in_agreement = false;
    bool failed = false;  ///< its context has failed
    bool left = false;    ///< it has left its context, which had not failed
    friend bool operator==(const Status&, const Status&) = default;
  };

  void signal(int to, int channel);                    ///< counter(me -> to, channel) += 1
  std::uint64_t counter(int from, int channel) const;  ///< counter(from -> me, channel)

  /// One more execution, announced before its first signal: peers compare. `hash`: of what is executed, and
  /// `operation` its name. Gives the chain of all so far.
  std::uint64_t begin_execution(std::uint64_t hash, std::string_view operation = {});
  /// As above, for an execution that is captured into a graph. Captured executions are numbered separately.
  std::uint64_t begin_capture(std::uint64_t hash, std::string_view operation = {});
  /// Publishes the address of this rank's buffer of that number for an execution, before the signal that
  /// allows peers to read it; unchanged until they are done.
  void lend(std::size_t buffer, std::uint64_t address);
  std::uint64_t lent(int node_rank, std::size_t buffer) const;

  /// `refusal`: this rank comes only to say what kept it from `operation`.
  void begin_agreement(std::string_view operation = {}, const CaughtError* refusal = nullptr);
  void end_agreement();
  /// A rendezvous of some of the ranks, `operation`; the others of the node see it while it lasts.
  void enter_rendezvous(std::string_view operation);
  void leave_rendezvous();
  void fail(const CaughtError& why = {});
  /// `how` it is left: nothing to hold against it (it was closed) where that is empty.
  void leave(std::string_view how = {});

  /// All fields as they stood at one moment, unless the rank changes them without end.
  Status status(int node_rank) const;
  const ExecutionHistory& executions(int node_rank) const;
  const ExecutionHistory& captures(int node_rank) const;
  std::string operation(int node_rank) const;               ///< the latest check that it began
  std::optional<CaughtError> refusal(int node_rank) const;  ///< what kept it from that
  /// The rendezvous that it is in: of some ranks, or of all after so many of those; "": in none.
  std::string rendezvous(int node_rank, std::uint64_t after = 0) const;

  /// A wait of this rank that takes long, in this context or another: who it waits for, by rank of that
  /// context.
  struct LongWait {
    static constexpr int most_ranks = 512;  ///< further ones are not noted
    std::uint64_t number = 0;               ///< another one for each; 0: there is none
    std::uint64_t context = 0;              ///< its identity
    int rank = -1;                          ///< this rank there
    bool for_message = false;               ///< of point to point, which may have been sent before
    std::array<std::uint64_t, most_ranks / 64> awaited{};
    std::string operation;
    bool waits_for(int other) const;
  };
  /// In the place of the one before, if that is not over.
  void begin_long_wait(const LongWait& wait);
  void end_long_wait();
  LongWait long_wait(int node_rank) const;

  /// One rank of the node composes the text of the error that all throw, and queries the other ranks. False:
  /// another rank does so already. A rank that ends in between delays the others only for a limited time.
  bool claim_verdict();
  std::optional<int> verdict_of() const;  ///< who has
  void ask(std::uint64_t question);       ///< not 0
  std::uint64_t question() const;         ///< 0: none
  void answer(std::string_view text);     ///< cut to `longest_answer`
  /// Nothing: no answer yet.
  std::optional<std::string> answer_of(int node_rank) const;
  static constexpr std::size_t longest_answer = 1536;  // bytes
  static constexpr std::size_t longest_failure = 2048;
  CaughtError failure(int node_rank) const;    ///< once its status says `failed`
  std::string departure(int node_rank) const;  ///< how the rank has left; "": it has not, or in good order

 private:
  struct Cell;
  struct Card;
  struct Table;
  Table& table() const;
  Cell& cell(int from, int to) const;
  Card& card(int node_rank) const;
  Status read(int node_rank) const;
  void* memory_;
  int node_ranks_;
  int me_;
};

}  // namespace partita::runtime
