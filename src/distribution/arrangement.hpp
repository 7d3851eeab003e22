// Ranks arranged in a grid whose axes cut the dimensions of an array, or hold replicas or contributions.
#pragma once

#include <optional>
#include <partita/distribution.hpp>
#include <partita/extents.hpp>
#include <vector>

#include "distribution/cut.hpp"

namespace partita::distribution {

/// One axis of the grid: moving along it by one changes the number of the process by `stride`.
struct GridAxis {
  std::int64_t size = 1;
  std::int64_t stride = 1;
};

/// Every process of the grid has a number: the sum over all axes of coordinate * stride. Numbers are ranks,
/// unless `ranks` lists the rank of each.
class Arrangement {
 public:
  struct Dimension {
    Cut cut;
    std::vector<GridAxis> axes;  ///< slowest first; they act as one axis of the product of their sizes
  };

  /// The arrangement of a rule that is not Box. Throws ArgumentError where the rule does not fit the shape.
  static Arrangement of(const Distribution& distribution, const Shape& shape, int ranks);
  /// Sends rank i to rank members[i].
  void embed(std::span<const int> members);
  /// Sees the array through a window: [lower, lower + shape) of what is seen of it.
  void look_through(const Index& lower, const Shape& shape);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  std::int64_t size() const { return size_; }  ///< number of processes
  int contributions() const { return static_cast<int>(contribution_steps_.size()); }
  int replicas() const { return static_cast<int>(replica_steps_.size()); }

  /// Where the rank sits along each dimension of the array; nothing where it is not in the grid.
  std::optional<Extents> coordinates(int rank) const;
  /// The part of the number that comes from one dimension.
  std::int64_t step(int dimension, std::int64_t coordinate) const;
  /// contribution[replica] of the processes whose dimensions add up to `number`, replicas increasing.
  std::vector<std::vector<int>> holders(std::int64_t number) const;
  /// The ranks that hold the same contribution to the same region as `rank`, which is in the grid.
  std::vector<int> replicas_of(int rank) const;

 private:
  struct Binding;  // a rule that meets a shape and a number of ranks
  void arrange(const Slab& rule, const Binding& binding);
  void arrange(const Box& rule, const Binding& binding);
  void arrange(const BlockCyclic& rule, const Binding& binding);
  void arrange(const BlockNonCyclic& rule, const Binding& binding);
  void arrange(const Replicated& rule, const Binding& binding);
  void arrange(const Partitioned& rule, const Binding& binding);
  void place(const ProcessGrid& grid);
  void finish();
  std::int64_t number(int rank) const;  ///< -1 where the rank is not in the grid
  int rank(std::int64_t number) const;

  std::vector<Dimension> dimensions_;
  std::vector<GridAxis> partial_;
  std::vector<GridAxis> replicated_;
  std::vector<std::int64_t> contribution_steps_;
  std::vector<std::int64_t> replica_steps_;
  std::int64_t size_ = 1;
  std::vector<int> ranks_;             // by number; empty: the number itself
  std::vector<std::int64_t> numbers_;  // by rank, where `ranks_` is not empty; -1: not in the grid
};

}  // namespace partita::distribution
