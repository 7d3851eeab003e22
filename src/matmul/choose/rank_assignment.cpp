#include "matmul/choose/rank_assignment.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "matmul/choose/tiling.hpp"

namespace partita::multiplication {
namespace {

using distribution::Cut;

using Dimensions = std::array<std::size_t, 4>;  // from slowest to fastest

/// Where the parts of an operand lie: the first index that each rank holds along batch, m, n and k; -1 along
/// a dimension that the operand has not, and everywhere where the rank holds nothing.
using Places = std::vector<Coordinates>;
struct OperandPlaces {
  Places a;
  Places b;
  Places d;
};

std::int64_t cell_of(const Grid& grid, const Coordinates& at) {
  const Coordinates extents = grid.extents();
  std::int64_t cell = 0;
  for (std::size_t i = 0; i < at.size(); ++i) cell = cell * extents[i] + at[i];
  return cell;
}

Coordinates count_through(const Grid& grid, std::int64_t number, const Dimensions& slow_to_fast) {
  const Coordinates extents = grid.extents();
  Coordinates at{};
  for (std::size_t i = at.size(); i-- > 0; number /= extents[slow_to_fast[i]]) {
    at[slow_to_fast[i]] = number % extents[slow_to_fast[i]];
  }
  return at;
}

std::int64_t front(const IndexSet& set) {
  return set.empty() ? -1 : set.front();
}

/// How a rule that deals out blocks cuts a dimension.
struct Dealt {
  std::int64_t block = 0;
  std::int64_t parts = 0;
};
std::optional<Dealt> dealt_by(const Operand& operand, int dimension) {
  const Layout& layout = operand.layout;
  if (!layout.members().empty() || layout.whole_shape() != layout.shape()) return std::nullopt;
  if (const auto* rule = layout.distribution().as<BlockCyclic>()) {
    if (rule->grid.first()[dimension] == 0)
      return Dealt{rule->block[dimension], rule->grid.extents()[dimension]};
  }
  return std::nullopt;
}

Cut cut_like(std::int64_t extent, std::int64_t parts, std::initializer_list<std::optional<Dealt>> like) {
  const Cut even = Cut::balanced(extent, parts);
  for (const std::optional<Dealt>& blocks : like) {
    if (!blocks || blocks->block > extent || blocks->block * blocks->parts % parts != 0) continue;
    const Cut dealt = Cut::cyclic(extent, parts, blocks->block * blocks->parts / parts);
    if (dealt.largest() <= even.largest() + even.largest() / 16) return dealt;
  }
  return even;
}

/// Cells are given away one by one.
class Giving {
 public:
  Giving(const Grid& grid, int ranks)
      : grid_(grid),
        taken_(static_cast<std::size_t>(grid.parts()), false),
        first_free_(static_cast<std::size_t>(grid.parts()), 0),
        cells_(static_cast<std::size_t>(ranks), -1) {}

  bool has_cell(std::size_t rank) const { return cells_[rank] >= 0; }

  bool give(std::size_t rank, const Coordinates& at) {
    if (std::ranges::any_of(at, [](std::int64_t i) { return i < 0; })) return false;
    const std::int64_t cell = cell_of(grid_, at);
    if (taken_[static_cast<std::size_t>(cell)]) return false;
    taken_[static_cast<std::size_t>(cell)] = true;
    cells_[rank] = static_cast<int>(cell);
    return true;
  }

  /// One of m, n and k is -1, the same one in all calls: any part along it that is free.
  bool give_any(std::size_t rank, Coordinates at) {
    const auto open = static_cast<std::size_t>(std::ranges::find(at, -1) - at.begin());
    at[open] = 0;
    std::int64_t& first = first_free_[static_cast<std::size_t>(cell_of(grid_, at))];
    for (; first < grid_.extents()[open]; ++first) {
      at[open] = first;
      if (give(rank, at)) return true;
    }
    return false;
  }

  std::vector<int> rest() {
    std::size_t next = 0;
    for (int& cell : cells_) {
      while (cell < 0 && next < taken_.size() && taken_[next]) ++next;
      if (cell >= 0 || next == taken_.size()) continue;
      taken_[next] = true;
      cell = static_cast<int>(next);
    }
    return std::move(cells_);
  }

 private:
  Grid grid_;
  std::vector<bool> taken_;
  std::vector<std::int64_t> first_free_;  // by the cell whose open coordinate is 0
  std::vector<int> cells_;
};

/// The part of the grid in which each of the places lies; -1 stays.
Places parts(Places places, const GridCuts& cuts) {
  for (Coordinates& at : places) {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = at[i] < 0 ? -1 : cuts[i].owner(at[i]);
  }
  return places;
}

Coordinates joined(Coordinates one, const Coordinates& other) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] < 0) one[i] = other[i];
  }
  return one;
}

/// All are parts of the grid; `second` and `third` know the dimension that `first` has not.
std::vector<int> around(const Grid& grid, const Places& first, const Places& second, const Places& third) {
  const std::size_t ranks = first.size();
  Giving giving(grid, static_cast<int>(ranks));
  for (const Places* other : {&second, &third}) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (!giving.has_cell(rank)) giving.give(rank, joined(first[rank], (*other)[rank]));
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Coordinates& at = first[rank];
    const bool placed = at[0] >= 0 && std::ranges::count(at, -1) == 1;
    if (!giving.has_cell(rank) && placed) giving.give_any(rank, at);
  }
  return giving.rest();
}

/// The six orders in which ranks can be counted through the grid, those that count alike left out; the
/// dimension named last is the fastest, so neighbours on a node share the parts of the other two.
std::vector<Assignment> orders(const Grid& grid, int ranks) {
  constexpr const char* names = "-mnk";
  Dimensions order{0, 1, 2, 3};  // batches stay slowest
  std::vector<Assignment> result;
  do {
    Assignment next{{names[order[1]], '-', names[order[2]], '-', names[order[3]]}, {}};
    next.name += " order";
    next.cells.assign(static_cast<std::size_t>(ranks), -1);
    for (std::int64_t rank = 0; rank < grid.parts(); ++rank) {
      next.cells[static_cast<std::size_t>(rank)] =
          static_cast<int>(cell_of(grid, count_through(grid, rank, order)));
    }
    if (std::ranges::find(result, next.cells, &Assignment::cells) == result.end()) result.push_back(next);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return result;
}

OperandPlaces places_of(const Problem& problem) {
  const int cut = cut_batch(problem);
  const auto batch = [cut](bool batched, const OwnedSets& held) {
    if (cut < 0) return std::int64_t{0};
    return batched && !held.batch.empty() ? front(held.batch[static_cast<std::size_t>(cut)]) : -1;
  };
  OperandPlaces places;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const OwnedSets a = holding(problem, problem.a, rank);
    const OwnedSets b = holding(problem, problem.b, rank);
    const OwnedSets d = holding(problem, problem.d, rank);
    places.a.push_back({batch(problem.a.batched(), a), front(a.rows), -1, front(a.columns)});
    places.b.push_back({batch(problem.b.batched(), b), -1, front(b.columns), front(b.rows)});
    places.d.push_back({batch(true, d), front(d.rows), front(d.columns), -1});
  }
  return places;
}

/// Ranks go where what they own is needed: each to a cell with its part of one operand (D, A and B in turn),
/// if possible to one with its part of another operand as well; those that find none fill the cells that are
/// left.
std::vector<Assignment> homes(const Grid& grid, const GridCuts& cuts, const OperandPlaces& places) {
  const Places a = parts(places.a, cuts), b = parts(places.b, cuts), d = parts(places.d, cuts);
  return {{"by owner of D", around(grid, d, a, b)},
          {"by owner of A", around(grid, a, d, b)},
          {"by owner of B", around(grid, b, d, a)}};
}

}  // namespace

Coordinates coordinates_of(const Grid& grid, std::int64_t cell) {
  return count_through(grid, cell, {0, 1, 2, 3});
}

int cut_batch(const Problem& problem) {
  int longest = -1;
  for (int i = 0; i < problem.batches(); ++i) {
    const Shape& shape = problem.d.layout.shape();
    if (longest < 0 || shape[i] > shape[longest]) longest = i;
  }
  return longest;
}

GridCuts cuts_of(const Problem& problem, const Grid& grid) {
  const int cut = cut_batch(problem);
  const std::int64_t batch = cut < 0 ? 1 : problem.d.layout.shape()[cut];
  const int d = problem.batches();
  const int a = problem.a.batched() ? d : 0;
  const int b = problem.b.batched() ? d : 0;
  return {Cut::balanced(batch, grid.batch),
          cut_like(problem.m(), grid.m, {dealt_by(problem.d, d), dealt_by(problem.a, a)}),
          cut_like(problem.n(), grid.n, {dealt_by(problem.d, d + 1), dealt_by(problem.b, b + 1)}),
          cut_like(problem.k(), grid.k, {dealt_by(problem.a, a + 1), dealt_by(problem.b, b)})};
}

std::vector<std::vector<Assignment>> assignments(const Problem& problem, const std::vector<Grid>& grids) {
  constexpr int most_ranks_for_homes = 1 << 16;  // beyond, looking at every rank costs more than it saves
  const int ranks = problem.ranks();
  const OperandPlaces places = ranks > most_ranks_for_homes ? OperandPlaces{} : places_of(problem);
  std::vector<std::vector<Assignment>> result;
  for (const Grid& grid : grids) {
    result.push_back(orders(grid, ranks));
    if (ranks > most_ranks_for_homes) continue;
    std::ranges::move(homes(grid, cuts_of(problem, grid), places), std::back_inserter(result.back()));
  }
  return result;
}

}  // namespace partita::multiplication
