// Into how many parts batch, m, n and k are cut, so that the fewest elements move.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace partita::multiplication {

/// Parts along each dimension; the product is at most the number of ranks.
struct Grid {
  std::int64_t batch = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;

  std::int64_t parts() const { return batch * m * n * k; }
  std::array<std::int64_t, 4> extents() const { return {batch, m, n, k}; }
  std::string to_string() const;  ///< "16x16x16" of m, n and k; "2 batches x 4x4x1"
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// What the search is asked. Extents in elements; `batch` is the one leading dimension that may be cut.
struct GridQuestion {
  std::int64_t planes = 1;  ///< matrices for each index of `batch`: the other leading dimensions
  std::int64_t batch = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool batched_a = true;  ///< A has the batch dimension, too; otherwise all batches share it
  bool batched_b = true;
  int ranks = 1;
  std::int64_t scratch = 0;  ///< elements that a rank may hold beside its operands; 0: no limit
  std::int64_t piece = 0;    ///< of those, what products need on their way at most
  std::int64_t round = 0;    ///< of those that A and B need on their way, for each row and column of a tile
};

/// Elements that a rank's tile takes in, those that it may own already among them, c_x = ceil(x / parts):
///
///     c_m c_k + c_k c_n           its parts of A and B
///     + c_m c_n (p_k - 1) / p_k   of the p_k sums of its tile of D, each rank joins one p_k-th
///
/// times the batches of the tile. With c = (mnk/P)^(1/3) in all three that is 3 (mnk/P)^(2/3), the least that
/// a rank needs for its share of the multiplications (Irony, Toledo and Tiskin 2004); with p_k = 1 and
/// c_m c_n = S it is 2mnk / (P sqrt(S)).
double received(const GridQuestion& question, const Grid& grid);

/// Multiplications of the busiest rank: c_batch c_m c_n c_k.
double multiplications(const GridQuestion& question, const Grid& grid);

/// What a rank's scratch must hold at least: its tile of D, a piece of another one, and a round of A and B.
std::int64_t least_scratch(const GridQuestion& question, const Grid& grid);

/// By how much the busiest rank may multiply more than in the most even grid, where that saves bytes.
inline constexpr double slightly_uneven = 1.03;

/// The grids that suit, looked at once for several questions about them.
class GridSearch {
 public:
  /// `most_uneven`: the largest that will be asked for. Time: P log P.
  explicit GridSearch(const GridQuestion& question, double most_uneven = slightly_uneven);

  /// The `count` best grids, best first: of those whose busiest rank multiplies at most `uneven` times as
  /// much as in the most even grid (so some ranks may be left idle where that saves more than it costs: a
  /// prime number of ranks), and whose tile fits into the scratch, the ones that take in the fewest elements.
  /// Empty where nothing fits.
  std::vector<Grid> best(int count, double uneven = slightly_uneven) const;

  /// The best of those grids whose parts along m, n and k divide the parts of the operands, or are divided by
  /// them: no owner's part is cut unevenly. Empty where there is none.
  std::vector<Grid> best_aligned(const Grid& parts_of_operands) const;

 private:
  struct Rated {
    double elements = 0;
    double work = 0;
    Grid grid;
  };
  template <class Suits>
  std::vector<Grid> best_of(int count, double uneven, const Suits& suits) const;

  double least_work_ = 0;
  std::vector<Rated> rated_;  ///< best first, those that may be asked for
};

/// The scratch with which at least one grid fits, in elements.
std::int64_t smallest_scratch(const GridQuestion& question);

}  // namespace partita::multiplication
