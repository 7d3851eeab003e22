// Counters and status cells that the ranks of one node share: signals without messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/error_kind.hpp"

namespace partita {

/// Lies in zero-initialised memory that all ranks of the node map (NodeMemory::control). Lock-free; a signal
/// is a release, reading a counter an acquire. Ranks here are numbered within the node. Each rank writes only
/// its own cells and its own card, so a rank that dies leaves nothing locked.
class NodeBoard {
 public:
  static constexpr int channels = 8;
  static std::int64_t bytes(int node_ranks);
  NodeBoard(void* memory, int node_ranks, int my_node_rank);

  int node_ranks() const { return node_ranks_; }
  int me() const { return me_; }

  /// What a rank is doing, for its neighbours to see.
  struct Status {
    std::uint64_t executions = 0;  ///< plans begun
    std::uint64_t agreements = 0;  ///< collective checks begun
    std::uint64_t plan_hash = 0;   ///< of the latest execution begun
    bool in_agreement = false;
    bool failed = false;  ///< its context has failed
    bool left = false;    ///< it has left its context, which had not failed
    friend bool operator==(const Status&, const Status&) = default;
  };

  void signal(int to, int channel);                    ///< counter(me -> to, channel) += 1
  std::uint64_t counter(int from, int channel) const;  ///< counter(from -> me, channel)

  /// Announced with the first signal of an execution: the peer compares. `operation` is for error texts.
  void begin_execution(std::uint64_t plan_hash, std::string_view operation = {});
  void begin_agreement(std::string_view operation = {});
  void end_agreement();
  void fail(ErrorKind kind = ErrorKind::error, std::string_view why = {});
  /// `how` it is left: nothing to hold against it (it was closed) where that is empty.
  void leave(std::string_view how = {});

  /// All fields as they stood at one moment, unless the rank changes them without end.
  Status status(int node_rank) const;
  /// The plan hash that a neighbour announced for execution number `execution` (1, 2, ...), if it has begun
  /// it and is at most two executions further; nothing otherwise.
  std::optional<std::uint64_t> announced(int node_rank, std::uint64_t execution) const;
  std::string operation(int node_rank) const;  ///< the latest that it began
  CaughtError failure(int node_rank) const;    ///< once its status says `failed`
  std::string departure(int node_rank) const;  ///< how the rank has left; "": it has not, or in good order

 private:
  struct Cell;
  struct Card;
  Cell& cell(int from, int to) const;
  Card& card(int node_rank) const;
  Status read(int node_rank) const;
  void* memory_;
  int node_ranks_;
  int me_;
};

}  // namespace partita
