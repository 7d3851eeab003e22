// Counters and status cells that the ranks of one node share: signals without messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace partita {

/// Lies in zero-initialised memory that all ranks of the node map (NodeMemory::control). Lock-free; a signal
/// is a release, reading a counter an acquire. Ranks here are numbered within the node.
class NodeBoard {
 public:
  static std::int64_t bytes(int node_ranks);
  NodeBoard(void* memory, int node_ranks, int my_node_rank);

  /// What a rank is doing, for its neighbours to see.
  struct Status {
    std::uint64_t executions = 0;  ///< plans begun
    std::uint64_t agreements = 0;  ///< collective checks begun
    std::uint64_t plan_hash = 0;   ///< of the latest execution begun
    bool in_agreement = false;
    bool failed = false;  ///< its context has failed
  };

  void signal(int to, int channel);                    ///< counter(me -> to, channel) += 1
  std::uint64_t counter(int from, int channel) const;  ///< counter(from -> me, channel)

  /// Announced with the first signal of an execution: the peer compares.
  void begin_execution(std::uint64_t plan_hash);
  void begin_agreement();
  void end_agreement();
  void fail();
  Status status(int node_rank) const;
  /// The plan hash that a neighbour announced for execution number `execution` (1, 2, ...), if it has begun it and is
  /// at most two executions further; nothing otherwise.
  std::optional<std::uint64_t> announced(int node_rank, std::uint64_t execution) const;

 private:
  struct Cell;
  struct Card;
  Cell& cell(int from, int to) const;
  Card& card(int node_rank) const;
  void* memory_;
  int node_ranks_;
  int me_;
};

}  // namespace partita
