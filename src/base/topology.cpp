#include <algorithm>
#include <partita/topology.hpp>

#include "base/check.hpp"

namespace partita {

Topology Topology::regular(int ranks, int ranks_per_node) {
  check(ranks >= 1, "a topology needs at least one rank, not {}", ranks);
  Topology topology;
  topology.ranks_ = ranks;
  topology.ranks_per_node_ = ranks_per_node < 1 ? ranks : ranks_per_node;
  return topology;
}

Topology Topology::of(std::vector<int> nodes) {
  Topology topology = regular(static_cast<int>(nodes.size()));
  topology.nodes_ = std::make_shared<const std::vector<int>>(std::move(nodes));
  return topology;
}

Topology Topology::with_cross_memory(bool can_read) const {
  Topology topology = *this;
  topology.cross_memory_ = can_read;
  return topology;
}

int Topology::node(int rank) const {
  check(rank >= 0 && rank < ranks_, "rank {} is not one of the {} ranks", rank, ranks_);
  return nodes_ ? (*nodes_)[static_cast<std::size_t>(rank)] : rank / ranks_per_node_;
}

int Topology::node_count() const {
  if (!nodes_) return (ranks_ + ranks_per_node_ - 1) / ranks_per_node_;
  return 1 + *std::max_element(nodes_->begin(), nodes_->end());
}

std::vector<int> Topology::node_ranks(int node_number) const {
  std::vector<int> result;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (node(rank) == node_number) result.push_back(rank);
  }
  return result;
}

bool operator==(const Topology& a, const Topology& b) {
  if (a.ranks_ != b.ranks_ || a.cross_memory_ != b.cross_memory_) return false;
  for (int rank = 0; rank < a.ranks_; ++rank) {
    if (a.node(rank) != b.node(rank)) return false;
  }
  return true;
}

}  // namespace partita
