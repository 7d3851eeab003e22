// Which ranks share a node, that is, can address each other's memory.
#pragma once

#include <memory>
#include <partita/export.hpp>
#include <vector>

namespace partita {

/// A value that planners take; nothing in it communicates.
class PARTITA_API Topology {
 public:
  /// `ranks_per_node` consecutive ranks a node; 0 or less: all on one node. Throws ArgumentError if ranks
  /// < 1.
  static Topology regular(int ranks, int ranks_per_node = 0);
  /// nodes[r] is the node of rank r, numbered from 0.
  static Topology of(std::vector<int> nodes);

  int ranks() const { return ranks_; }  ///< how many there are
  int node(int rank) const;             ///< of the rank; throws ArgumentError out of range
  int node_count() const;               ///< nodes
  bool same_node(int a, int b) const { return node(a) == node(b); }  ///< throws likewise
  std::vector<int> node_ranks(int node) const;                       ///< in increasing order
  /// Ranks of a node can read each other's ordinary memory on the host, too: the kernel copies it for them.
  /// Not unless `with_cross_memory` has said so.
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
