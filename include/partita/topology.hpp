// Topologies: which ranks share a node and can access each other's memory.
#pragma once

#include <memory>
#include <partita/export.hpp>
#include <vector>

namespace partita {

/// The nodes of all ranks, an argument of planners. A value; nothing in it communicates.
class PARTITA_API Topology {
 public:
  /// `ranks_per_node` consecutive ranks per node; 0 or less: all on one node. Throws ArgumentError if ranks <
  /// 1.
  static Topology regular(int ranks, int ranks_per_node = 0);
  /// nodes[r] is the node of rank r, numbered from 0.
  static Topology of(std::vector<int> nodes);

  int ranks() const { return ranks_; }  ///< number of ranks
  int node(int rank) const;             ///< node of a rank; throws ArgumentError out of range
  int node_count() const;               ///< number of nodes
  bool same_node(int a, int b) const { return node(a) == node(b); }  ///< throws ArgumentError out of range
  std::vector<int> node_ranks(int node) const;                       ///< in increasing order
  /// Whether ranks of a node can read each other's ordinary memory: of hosts through the kernel, of devices
  /// in place. False unless set by `with_cross_memory`.
  bool has_cross_memory() const { return cross_memory_; }
  Topology with_cross_memory(bool can_read = true) const;  ///< the same ranks and nodes
  friend PARTITA_API bool operator==(const Topology& a, const Topology& b);

 private:
  int ranks_ = 1;
  int ranks_per_node_ = 1;
  bool cross_memory_ = false;
  std::shared_ptr<const std::vector<int>> nodes_;  // null: regular
};

}  // namespace partita
