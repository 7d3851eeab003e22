// Processes arranged in an N-dimensional grid.
#pragma once

#include <functional>
#include <optional>
#include <partita/extents.hpp>
#include <span>
#include <string>
#include <vector>

namespace partita {

/// Which rank sits at which coordinates. A value; two grids are equal where every rank sits at the same
/// coordinates, however the order was given.
/// `first` is the process that owns the first block along each dimension (ScaLAPACK's RSRC and CSRC); an
/// empty one means zeros.
class PARTITA_API ProcessGrid {
 public:
  ProcessGrid() = default;
  /// Ranks 0, 1, ... in row- or column-major order. Throws ArgumentError on an extent below 1.
  ProcessGrid(Extents extents, Order order = Order::row_major, Extents first = {});
  ProcessGrid(std::initializer_list<detail::Extent> extents) : ProcessGrid(Extents(extents)) {}
  /// An explicit list: ranks[i] sits at the i-th coordinates in row-major order. Throws ArgumentError if a
  /// rank is named twice or their number is not the volume.
  static ProcessGrid of_ranks(Extents extents, std::vector<int> ranks, Extents first = {});

  const Extents& extents() const { return extents_; }  ///< processes along each dimension
  const Extents& first() const { return first_; }      ///< as many as dimensions
  /// Ranks are numbered along the last dimension first, unless `ranks()` lists them. Column-major grids whose
  /// numbering is the same either way say row-major.
  Order order() const { return order_; }
  const std::vector<int>& ranks() const { return ranks_; }  ///< in row-major order; empty: by `order()`
  int dimensions() const { return extents_.size(); }        ///< of the grid, and of its arrays
  int size() const;                                         ///< number of processes in the grid
  int rank_bound() const;                                   ///< one more than the largest rank named
  std::optional<Extents> coordinates(int rank) const;       ///< nothing where the rank is not in the grid
  int rank_at(const Extents& coordinates) const;            ///< throws ArgumentError out of range

  /// "2x3", "2x3:column", "2x2:ranks=3,2,1,0", "2x2:first=0,1".
  std::string to_string() const;
  friend bool operator==(const ProcessGrid&, const ProcessGrid&) = default;

  /// The grid of the permuted array: dimension i of the result is dimension axes[i] of this one.
  ProcessGrid permuted(std::span<const int> axes) const;
  /// The grid of other ranks: rank `number(rank)` stands where `rank` stands in this one.
  ProcessGrid renumbered(const std::function<int(int)>& number) const;

 private:
  Extents extents_;
  Extents first_;
  Order order_ = Order::row_major;
  std::vector<int> ranks_;  // empty: by `order_`
};

}  // namespace partita
