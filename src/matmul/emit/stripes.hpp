// D made in stripes on devices: each over all of k at once, while what the next ones need is on its way.
#pragma once

#include <optional>
#include <vector>

#include "matmul/choose/tiling.hpp"

namespace partita::multiplication {

/// Where every rank computes its part of D (of a D on all ranks: a slab of it), and A or B is cut along k,
/// neighbours put what it needs of them into panels with all of k. Of the operand that moves most they put a
/// stripe's share at a time, the other one first. So a stripe takes one product, which rounds and does what
/// follows; only of the first few a rank multiplies its own indices of k beforehand, for it has nothing else
/// to do until the others' are there. The same on every rank.
struct Stripes {
  bool of_rows = false;  ///< of D's rows, so that A comes in shares; or of its columns, and B does
  int count = 1;
  int begun = 0;       ///< the first ones, of which the own indices of k are multiplied beforehand
  double seconds = 0;  ///< by the machine's figures

  bool share(bool of_a) const { return of_a == of_rows; }
};

/// Whether the ranks are devices that put into each other's memory without a limit of it, and what they
/// multiply are two matrices whose elements are each in one piece (FP8 and INT8 have additional rules
/// for their layout).
bool may_pipeline(const Problem& problem);

/// Nothing: they do not apply, or turns over the pieces of k take no longer.
std::optional<Stripes> find_stripes(const Problem& problem, const std::vector<Tile>& tiles);

/// Whether some tile needs of A or B what its rank does not hold.
bool moves(const Problem& problem, const std::vector<Tile>& tiles, bool of_a);

/// Each rank's panel as an array: its lines of A or B, over all of k.
Layout panel_layout(const Problem& problem, const std::vector<Tile>& tiles, bool of_a);

/// Of so many shares of them: of whole groups of lines by which memory is aligned, where there are many.
IndexSet share_of_lines(const IndexSet& lines, int count, int number);

/// The rank's tile in that stripe: all of k, and a share of the lines.
Tile stripe_of(const Tile& tile, const Stripes& stripes, int number);

/// What of D each rank makes.
Layout layout_made(const Problem& problem, const std::vector<Tile>& tiles);

/// What `giver` puts into the taker's panel of a region that this needs, if anything.
std::optional<Region> part_given(const Problem& problem, bool of_a, const Region& wanted, int giver,
                                 int taker);

/// The indices of k of which the rank holds all that its tile needs, and it holds nothing more of what moves;
/// empty: there are none, or they are not one range.
IndexSet own_depth(const Problem& problem, const std::vector<Tile>& tiles, int rank);

}  // namespace partita::multiplication
