// What the steps of one multiply are written from: arrays, buffers and tiles, the same on every rank.
#pragma once

#include <vector>

#include "matmul/problem.hpp"
#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// What arrives at a rank in one turn, unless there is less room.
inline constexpr std::int64_t most_message_bytes = std::int64_t{16} << 20;
/// Indices of k that a local multiply needs to run well; fewer only where a limit leaves no room for them.
inline constexpr std::int64_t good_turn = 128;

/// A or B as the multiply reads it.
struct Input {
  Operand operand;
  Held held;
  int buffer = -1;
  int published = -1;    ///< shared scratch into which an owner copies its part for the peers of its node;
                         ///< none: they read the operand in place, or need nothing
  bool batched = false;  ///< it has the leading dimensions of D
  bool moves = false;    ///< some rank needs what another one holds
  bool far = false;      ///< and on another node: a panel of it is received while another is multiplied

  int readable() const { return published >= 0 ? published : buffer; }  ///< by peers of the node
};

/// Buffers by number, -1 where there is none. `problem.d` is the array that the steps write, of a layout in
/// which every element has one holder unless the tiling leaves D where it is.
struct Frame {
  Problem problem;
  Tiling tiling;
  std::vector<Tile> tiles;  ///< of all ranks
  Input a;
  Input b;
  int c = -1;
  int d = -1;
  int bias = -1;
  int auxiliary = -1;
  int gradient = -1;  ///< this rank's share of the sums, all of them
  int sums = -1;      ///< laid out as D, of the compute dtype: where D cannot hold the sums on the way
  int products = -1;  ///< shared: pieces of a rank's tile that other ranks hold in D
  int arriving = -1;  ///< private: pieces of A and B from other nodes
  int leaving = -1;   ///< private: those for other nodes
  int arriving_products = -1;
  std::int64_t shortest_turn = good_turn;
  bool turned_products = false;    ///< products lie with D's two last dimensions exchanged
  bool gathers = false;            ///< what a turn needs of many owners is brought together in panels
  std::int64_t panel_bytes = 0;    ///< room for them
  bool delivers = false;           ///< some tile reaches beyond what its rank holds of D
  std::int64_t message_bytes = 0;  ///< in one turn, to one rank, at most (but for one index of k)

  /// In which products lie packed in scratch.
  Extents product_order() const;
  const Tile& tile(int rank) const { return tiles[static_cast<std::size_t>(rank)]; }
  int rank() const { return problem.rank; }
  int distance(int from, int to) const { return (to - from + problem.ranks()) % problem.ranks(); }
  bool same_node(int a_rank, int b_rank) const { return problem.topology.same_node(a_rank, b_rank); }
};

/// Elements of op(A), op(B) or D that a tile takes part in.
Region region_of_a(const Frame& frame, const Tile& tile);
Region region_of_b(const Frame& frame, const Tile& tile);
Region region_of_d(const Tile& tile);

/// Smallest index along each dimension; the region must not be empty.
Index front(const Region& region);

/// Whether two regions meet.
bool meet(const Region& a, const Region& b);

/// Whether the first element of a piece is in `held`: all of it then, where a piece has one owner. Neither is
/// empty.
bool holds_front(const Region& held, const Region& piece);

}  // namespace partita::multiplication
