// What the steps of one multiply are written from: arrays, buffers and tiles, the same on every rank.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "matmul/emit/ring.hpp"
#include "matmul/emit/stripes.hpp"

namespace partita::multiplication {

/// What arrives at a rank in one turn, unless there is less room.
inline constexpr std::int64_t most_message_bytes = std::int64_t{16} << 20;
/// Indices of k that a local multiply needs to run well; fewer only where a limit leaves no room for them.
inline constexpr std::int64_t good_turn = 128;

/// A or B as the multiply reads it.
struct Input {
  int buffer = -1;
  int published = -1;  ///< shared scratch into which an owner copies its part for the peers of its node;
                       ///< none: they read the operand in place, or need nothing
  int panel = -1;      ///< shared: what a rank's tile needs of it, where D is made in stripes; -1: is read as
                       ///< it is stored
  bool moves = true;   ///< some rank needs what another one holds
  bool far = false;    ///< and on another node: a panel of it is received while another is multiplied
  bool pushed = false;  ///< neighbours put it into each other's `landing`, and do not read it in place
  int line_pieces = 1;  ///< into which its rows (columns of B) are cut there: products begin with the first

  int readable() const { return published >= 0 ? published : buffer; }  ///< by peers of the node
};

/// Buffers by number, -1 where there is none. `problem.d` is the array that the steps write, of a layout in
/// which every element has one holder unless the tiling leaves D where it is.
struct MatmulBuffers {
  Problem problem;
  Tiling tiling = {};
  std::vector<Tile> tiles = {};  ///< of all ranks
  std::optional<Stripes> stripes = {};
  std::optional<Ring> ring = {};
  bool gathers_d = false;  ///< with stripes or a ring: `d` is on all ranks, each of which makes what
                           ///< `problem.d` says
  Input a = {};
  Input b = {};
  int c = -1;
  int d = -1;
  int bias = -1;
  int auxiliary = -1;
  int gradient = -1;  ///< this rank's share of the sums, all of them
  int scale_a = -1, scale_b = -1, scale_d = -1;
  int amax = -1;      ///< of what this rank makes of D
  int sums = -1;      ///< laid out as D, of the compute dtype: where D cannot hold the sums on the way
  int products = -1;  ///< pieces of a rank's tile that other ranks hold in D; shared, where those read them
  int landing = -1;   ///< shared: pieces of A and B that neighbours put there
  int landing_products = -1;     ///< shared: products
  bool pushes_products = false;  ///< neighbours do, and do not read them in place
  int arriving = -1;             ///< private: pieces of A and B from other nodes
  int leaving = -1;              ///< private: those for other nodes
  int arriving_products = -1;
  /// Private, on devices, whose messages leave from host memory, perhaps, and come there: products that
  /// leave; what has arrived, where it is computed with.
  int leaving_products = -1, landed = -1, landed_products = -1;
  std::int64_t shortest_turn = good_turn;
  bool turned_products = false;    ///< products are stored with D's two last dimensions exchanged
  bool gathers = false;            ///< what a turn needs of many owners is brought together in panels
  std::int64_t panel_bytes = 0;    ///< room for them
  bool delivers = false;           ///< some tile reaches beyond what its rank holds of D
  std::int64_t most_products = 0;  ///< elements of the largest tile of D
  /// In one turn, to one rank, at most (but for one index of k).
  std::int64_t message_bytes = most_message_bytes;
  /// Where messages go in groups: rounds of a turn, and of products (GroupedExchange).
  int turn_rounds = 1, product_rounds = 1;

  /// The order of packed products in scratch.
  Extents product_order() const {
    Extents order = problem.d.axis_order;
    if (turned_products) std::swap(order[order.size() - 2], order[order.size() - 1]);
    return order;
  }
  const Input& input(bool of_a) const { return of_a ? a : b; }
  Input& input(bool of_a) { return of_a ? a : b; }
  const Tile& tile(int rank) const { return tiles[static_cast<std::size_t>(rank)]; }
  int rank() const { return problem.rank; }
  int distance(int from, int to) const { return (to - from + problem.ranks()) % problem.ranks(); }
  /// to = beta to + a b
  Multiply product(Part of_a, Part of_b, Part to, Beta beta) const;
  bool same_node(int a_rank, int b_rank) const { return problem.topology.same_node(a_rank, b_rank); }
};

}  // namespace partita::multiplication
