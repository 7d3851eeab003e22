// Meshes of factorised ranks: into how many parts batch, m, n and k are cut, so that the fewest elements
// move, and in which orders the axes are.
#pragma once

#include <string>
#include <vector>

#include "matmul/choose/tiling.hpp"

namespace partita::multiplication {

/// Parts along each dimension; the product is at most the number of ranks.
struct Grid {
  std::int64_t batch = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;

  std::int64_t parts() const { return batch * m * n * k; }
  std::string to_string() const;  ///< "16x16x16" of m, n and k; "2 batches x 4x4x1"
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// By how much the busiest rank may multiply more than in the most even grid, where that saves bytes.
inline constexpr double slightly_uneven = 1.03;

/// All grids of a problem, with c_x = ceil(x / parts), the longest tile.
class GridSearch {
 public:
  /// `problem` must outlive it.
  explicit GridSearch(const Problem& problem);

  /// Elements that a rank's tile needs, including those that it may own already:
  ///
  ///     c_m c_k + c_k c_n           its parts of A and B
  ///     + c_m c_n (p_k - 1) / p_k   of the p_k sums of its tile of D, each rank reduces one p_k-th
  ///
  /// times the batches of the tile. With c = (mnk/P)^(1/3) in all three that is 3 (mnk/P)^(2/3), the least
  /// that a rank needs for its share of the multiplications (Irony, Toledo and Tiskin 2004); with p_k = 1 and
  /// c_m c_n = S it is 2mnk / (P sqrt(S)).
  double received(const Grid& grid) const;
  /// Multiplications of the busiest rank: c_batch c_m c_n c_k.
  double multiplications(const Grid& grid) const;
  /// Bytes, if a rank owns nothing of what its tile needs.
  std::int64_t scratch(const Grid& grid) const;
  std::int64_t smallest_scratch() const;  ///< of all grids

  /// The `count` best grids, best first: of those whose busiest rank multiplies at most `uneven` times as
  /// much as in the most even grid (so some ranks may be idle where that saves more than it costs: a prime
  /// number of ranks), and whose scratch is within the memory limit, the ones that need the fewest elements.
  /// Only grids whose parts along m, n and k divide those of `aligned`, or are divided by them, so that no
  /// owner's part is cut unevenly. Empty if nothing fits. Time: P log P.
  std::vector<Grid> best(int count, double uneven = slightly_uneven, const Grid& aligned = {}) const;

 private:
  template <class Visit>
  void for_each(const Visit& visit) const;
  Grid longest(const Grid& grid) const;

  const Problem& problem_;
  Grid extents_;             // in elements; `batch` is the one leading dimension that may be cut
  std::int64_t planes_ = 1;  // matrices for each index of it: the other leading dimensions
};

/// The tilings of the `count` best grids and of a few more, each with all orders of its axes.
std::vector<Tiling> communication_avoiding_tilings(const Problem& problem, int count);

}  // namespace partita::multiplication
