// Processes arranged in an N-dimensional grid.
#pragma once

#include <functional>
#include <optional>
#include <partita/extents.hpp>
#include <span>
#include <string>
#include <vector>

namespace partita {

/// The coordinates of ranks in a grid. A value; two grids are equal if every rank has the same coordinates in
/// both, regardless of how the order was given.
/// `first` is the process that owns the first block along each dimension (ScaLAPACK's RSRC and CSRC); empty:
/// zeros.
class PARTITA_API ProcessGrid {
 public:
  ProcessGrid() = default;
  /// Ranks 0, 1, ... in row-major or column-major order. Throws ArgumentError if an extent is below 1.
  ProcessGrid(Extents extents, Order order = Order::row_major, Extents first = {});
  ProcessGrid(std::initializer_list<detail::Extent> extents) : ProcessGrid(Extents(extents)) {}
  /// An explicit list: ranks[i] has the i-th coordinates in row-major order. Throws ArgumentError if a rank
  /// is listed twice or their number is not the volume.
  static ProcessGrid of_ranks(Extents extents, std::vector<int> ranks, Extents first = {});

  const Extents& extents() const { return extents_; }  ///< number of processes along each dimension
  const Extents& first() const { return first_; }      ///< one coordinate per dimension
  /// The numbering of ranks: row-major is along the last dimension first. Ignored if `ranks()` is not empty;
  /// row_major for grids whose numbering is the same either way.
  Order order() const { return order_; }
  const std::vector<int>& ranks() const { return ranks_; }  ///< in row-major order; empty: by `order()`
  int dimensions() const { return extents_.size(); }        ///< number of dimensions
  int size() const;                                         ///< number of processes in the grid
  int rank_bound() const;                                   ///< largest rank plus one
  std::optional<Extents> coordinates(int rank) const;       ///< empty if the rank is not in the grid
  int rank_at(const Extents& coordinates) const;            ///< throws ArgumentError out of range

  /// Text form: "2x3", "2x3:column", "2x2:ranks=3,2,1,0", "2x2:first=0,1".
  std::string to_string() const;
  friend bool operator==(const ProcessGrid&, const ProcessGrid&) = default;

  /// The grid of the transposed array: dimension i of the result is dimension axes[i] of this grid.
  ProcessGrid permuted(std::span<const int> axes) const;
  /// The grid with every rank replaced by `number(rank)`.
  ProcessGrid renumbered(const std::function<int(int)>& number) const;

 private:
  Extents extents_;
  Extents first_;
  Order order_ = Order::row_major;
  std::vector<int> ranks_;  // empty: by `order_`
};

/// The extents of a grid of `ranks` processes in `dimensions` dimensions: as equal as possible, in decreasing
/// order, as MPI_Dims_create: dims_create(12, 2) is {4, 3}. Pure. Throws ArgumentError if `ranks` is below 1,
/// or if `dimensions` is below 1 or above `max_dimensions`.
PARTITA_API Extents dims_create(int ranks, int dimensions);

}  // namespace partita
