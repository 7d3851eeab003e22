// A tile cut into blocks, each of which has one owner in A, one in B and one holder in D.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "matmul/emit/matmul_buffers.hpp"

namespace partita::multiplication {

/// Disjoint sets, none empty, by increasing front.
using Partition = std::vector<IndexSet>;

/// The coarsest partition of `whole` such that each of `sets`, which cover it, is a union of pieces. The sets
/// are either equal or disjoint in pairs (the parts of a grid along one dimension), or each is a range of
/// positions in `whole` (the sides of boxes).
Partition partition(const IndexSet& whole, std::vector<IndexSet> sets);

/// All non-empty intersections.
Partition refine(const Partition& a, const Partition& b);

/// Each piece cut evenly into as few as have at most `most` elements.
Partition chop(const Partition& pieces, std::int64_t most);

/// How the pieces of A or B that a turn needs are brought together in scratch, so that one multiply reads
/// what comes from many owners. Packed, with the dimension along which they follow each other slowest.
enum class Panel : std::uint8_t {
  none,      ///< not at all: each is multiplied in place
  of_lines,  ///< rows of A or columns of B of several owners
  of_k,      ///< indices of k of several owners
};
using Panels = std::array<Panel, 2>;  ///< of A and B

/// Indices of k that are multiplied together.
struct Turn {
  IndexSet k;
  std::vector<IndexSet> of_a;  ///< of each piece of A: all of k, but where a panel is made of several
  std::vector<IndexSet> of_b;

  const std::vector<IndexSet>& of(bool a) const { return a ? of_a : of_b; }
};

/// The turns of all tiles with the same k.
struct Turns {
  Partition depth;  ///< pieces of k that have one owner in A and one in B
  std::vector<Turn> turns;
  std::vector<std::size_t> turn_of;  ///< of each piece of `depth`: the turn in which it begins
};

/// Rows of A or columns of B, cut so that each piece has one owner, and what becomes of the pieces.
struct Lines {
  std::shared_ptr<const Partition> pieces;
  Panel panel = Panel::none;
};

/// Block (b, i, j, t) is D[batches[b], rows[i], columns[j]] += A[batches[b], rows[i], turn(t).k]
/// B[batches[b], turn(t).k, columns[j]]. A pure function of buffers and rank, so that a peer knows it too.
struct Blocks {
  std::vector<std::vector<IndexSet>> batches;  ///< a set a leading dimension
  std::shared_ptr<const Partition> rows;       ///< of products
  std::shared_ptr<const Partition> columns;
  Lines a;  ///< the rows of products, unless panels are made of several owners' rows
  Lines b;
  /// Pieces of k. The rank takes first the one that it owns where it owns A's and B's alike, and else a
  /// skewed one as in Cannon's algorithm, so that not all ask the same owner at the same time.
  std::shared_ptr<const Turns> schedule;
  std::size_t first_turn = 0;
  /// The products follow each other in scratch, the rank's own among them, so that one multiply makes
  /// several: where they would be so thin that BLAS spent its time on packing the same operand again and
  /// again.
  bool joined = false;

  std::size_t turns() const { return schedule ? schedule->turns.size() : 0; }
  const Turn& turn(std::size_t t) const { return schedule->turns[(t + first_turn) % turns()]; }
  /// The turn in which the rank takes that one of the schedule.
  std::size_t turn_number(std::size_t scheduled) const {
    return (scheduled + turns() - first_turn) % turns();
  }
  const Lines& lines(bool of_a) const { return of_a ? a : b; }
  bool gathers() const { return a.panel != Panel::none || b.panel != Panel::none; }
};

/// A piece of A or B that a rank needs, and who gives it.
struct Piece {
  Region region;
  int owner = 0;
};
/// Of A: of each batch (one where A has none) the row pieces, and of each what the turn takes along k. Of B
/// the same. `givers`: of the pieces of another k-step, which are often equal; empty at first.
std::vector<Piece> pieces_of(const MatmulBuffers& buffers, const Blocks& blocks, int rank, std::size_t turn,
                             bool of_a, std::vector<int>& givers);
/// One of them.
Region region_of_piece(const MatmulBuffers& buffers, const Blocks& blocks, std::size_t turn, bool of_a,
                       std::size_t number);

/// What a rank holds of A or B, and who takes it from there.
class OwnPart {
 public:
  OwnPart(const MatmulBuffers& buffers, bool of_a);

  const Region& region() const { return region_; }
  /// Whether `reader`, whose tile is not empty, takes some of the input from this rank.
  bool is_read_by(int reader) const;
  /// Whether it takes this piece, which has one owner but for replicas, from this rank.
  bool gives(int reader, const Region& piece) const;

 private:
  const MatmulBuffers& buffers_;
  bool of_a_;
  Region region_;
  std::vector<int> replicas_;  // that hold the same
};

/// A piece of a rank's tile in D.
struct BlockProduct {
  Region region;
  int holder = 0;         ///< the rank that sums it up
  std::size_t batch = 0;  ///< numbers in Blocks
  std::size_t row = 0;
  std::size_t column = 0;
  std::int64_t offset = -1;  ///< bytes, in the rank's `products`; of none: the rank adds it up in place

  bool in_place() const { return offset < 0; }
};
/// All, ordered by front.
std::vector<BlockProduct> products_of(const MatmulBuffers& buffers, const Blocks& blocks, int rank);

/// Cuts a packed region into packed pieces that stay in cache, each after the other in memory.
std::vector<Region> in_cache(const MatmulBuffers& buffers, const Region& region, Dtype dtype);

}  // namespace partita::multiplication
