// Position of a rank's segment in the address range of its node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <partita/topology.hpp>
#include <vector>

namespace partita::memory {

/// The ranks that share memory with `me`, and each one's place among them.
class NodePlaces {
 public:
  NodePlaces(const Topology& topology, int me)
      : ranks_(topology.node_ranks(topology.node(me))),
        places_(static_cast<std::size_t>(topology.ranks()), -1) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      places_[static_cast<std::size_t>(ranks_[i])] = static_cast<int>(i);
    }
  }

  const std::vector<int>& ranks() const { return ranks_; }
  int count() const { return static_cast<int>(ranks_.size()); }
  int first() const { return ranks_.front(); }
  /// -1: on another node.
  int place(int rank) const { return places_.at(static_cast<std::size_t>(rank)); }
  /// The start of a rank's segment in the range that begins at `base`; null: on another node.
  char* segment(char* base, std::int64_t stride, int rank) const {
    const int index = place(rank);
    return index < 0 ? nullptr : base + index * stride;
  }

 private:
  std::vector<int> ranks_;
  std::vector<int> places_;
};

/// Of the largest node.
inline int most_ranks_of_a_node(const Topology& topology) {
  std::vector<int> counts(static_cast<std::size_t>(topology.node_count()));
  for (int rank = 0; rank < topology.ranks(); ++rank) ++counts[static_cast<std::size_t>(topology.node(rank))];
  return *std::ranges::max_element(counts);
}

}  // namespace partita::memory
