#include "matmul/rank_assignment.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "matmul/tilings.hpp"

namespace partita::multiplication {
namespace {

using distribution::Cut;

std::int64_t cell_of(const Grid& grid, const Coordinates& at) {
  return ((at.batch * grid.m + at.m) * grid.n + at.n) * grid.k + at.k;
}

/// Ranks counted through m, n and k with the given dimension fastest, ...; batches are slowest.
std::vector<int> count_through(const Grid& grid, int ranks, const std::array<int, 3>& slow_to_fast) {
  const std::array<std::int64_t, 3> extents{grid.m, grid.n, grid.k};
  std::vector<int> cells(static_cast<std::size_t>(ranks), -1);
  for (std::int64_t rank = 0; rank < grid.parts(); ++rank) {
    std::array<std::int64_t, 3> at{};
    std::int64_t rest = rank;
    for (int i = 2; i >= 0; --i) {
      const auto dimension = static_cast<std::size_t>(slow_to_fast[static_cast<std::size_t>(i)]);
      at[dimension] = rest % extents[dimension];
      rest /= extents[dimension];
    }
    cells[static_cast<std::size_t>(rank)] = static_cast<int>(cell_of(grid, {rest, at[0], at[1], at[2]}));
  }
  return cells;
}

std::int64_t front(const IndexSet& set) {
  return set.empty() ? -1 : set.front();
}

/// The part that holds the index; -1 of -1.
std::int64_t part_of(std::int64_t index, const Cut& cut) {
  return index < 0 ? -1 : cut.owner(index);
}

/// How a rule that deals out blocks cuts a dimension.
struct Blocks {
  std::int64_t block = 0;
  std::int64_t parts = 0;
};
std::optional<Blocks> blocks_of(const Operand& operand, int dimension) {
  const Layout& layout = operand.layout;
  if (!layout.members().empty() || layout.whole_shape() != layout.shape()) return std::nullopt;
  if (const auto* rule = layout.distribution().as<BlockCyclic>()) {
    if (rule->grid.first()[dimension] == 0)
      return Blocks{rule->block[dimension], rule->grid.extents()[dimension]};
  }
  return std::nullopt;
}

Cut cut_like(std::int64_t extent, std::int64_t parts, std::initializer_list<std::optional<Blocks>> like) {
  const Cut even = Cut::balanced(extent, parts);
  for (const std::optional<Blocks>& blocks : like) {
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
    if (at.batch < 0 || at.m < 0 || at.n < 0 || at.k < 0) return false;
    const std::int64_t cell = cell_of(grid_, at);
    if (taken_[static_cast<std::size_t>(cell)]) return false;
    taken_[static_cast<std::size_t>(cell)] = true;
    cells_[rank] = static_cast<int>(cell);
    return true;
  }

  /// One of m, n and k is -1, the same one in all calls: any part along it that is free.
  bool give_any(std::size_t rank, Coordinates at) {
    std::int64_t& open = at.m < 0 ? at.m : at.n < 0 ? at.n : at.k;
    const std::int64_t parts = at.m < 0 ? grid_.m : at.n < 0 ? grid_.n : grid_.k;
    open = 0;
    std::int64_t& first = first_free_[static_cast<std::size_t>(cell_of(grid_, at))];
    for (; first < parts; ++first) {
      open = first;
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

/// The part of the grid in which each of the places lies.
Places parts(const Places& places, const GridCuts& cuts) {
  Places result;
  result.reserve(places.size());
  for (const Coordinates& index : places) {
    result.push_back({part_of(index.batch, cuts.batch), part_of(index.m, cuts.m), part_of(index.n, cuts.n),
                      part_of(index.k, cuts.k)});
  }
  return result;
}

Coordinates joined(Coordinates one, const Coordinates& other) {
  if (one.batch < 0) one.batch = other.batch;
  if (one.m < 0) one.m = other.m;
  if (one.n < 0) one.n = other.n;
  if (one.k < 0) one.k = other.k;
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
    const bool placed = at.batch >= 0 && (at.m < 0) + (at.n < 0) + (at.k < 0) == 1;
    if (!giving.has_cell(rank) && placed) giving.give_any(rank, at);
  }
  return giving.rest();
}

}  // namespace

Coordinates coordinates_of(const Grid& grid, std::int64_t cell) {
  Coordinates at;
  at.k = cell % grid.k;
  at.n = cell / grid.k % grid.n;
  at.m = cell / grid.k / grid.n % grid.m;
  at.batch = cell / grid.k / grid.n / grid.m;
  return at;
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
  const int a = problem.batched_a() ? d : 0;
  const int b = problem.batched_b() ? d : 0;
  return {Cut::balanced(batch, grid.batch),
          cut_like(problem.m(), grid.m, {blocks_of(problem.d, d), blocks_of(problem.a, a)}),
          cut_like(problem.n(), grid.n, {blocks_of(problem.d, d + 1), blocks_of(problem.b, b + 1)}),
          cut_like(problem.k(), grid.k, {blocks_of(problem.a, a + 1), blocks_of(problem.b, b)})};
}

std::vector<Assignment> orders(const Grid& grid, int ranks) {
  constexpr const char* names = "mnk";
  std::array<int, 3> order{0, 1, 2};
  std::vector<Assignment> result;
  do {
    std::vector<int> cells = count_through(grid, ranks, order);
    const bool known = std::any_of(result.begin(), result.end(),
                                   [&](const Assignment& other) { return other.cells == cells; });
    if (known) continue;
    std::string name;
    for (const int dimension : order) name += std::string(name.empty() ? "" : "-") + names[dimension];
    result.push_back({name + " order", std::move(cells)});
  } while (std::next_permutation(order.begin(), order.end()));
  return result;
}

OperandPlaces places_of(const Problem& problem) {
  const int cut = cut_batch(problem);
  const auto batch = [cut](bool batched, const Holding& held) {
    if (cut < 0) return std::int64_t{0};
    return batched && !held.batch.empty() ? front(held.batch[static_cast<std::size_t>(cut)]) : -1;
  };
  OperandPlaces places;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Holding a = holding(problem, problem.a, problem.held_a.by(rank));
    const Holding b = holding(problem, problem.b, problem.held_b.by(rank));
    const Holding d = holding(problem, problem.d, problem.held_d.by(rank));
    places.a.push_back({batch(problem.batched_a(), a), front(a.rows), -1, front(a.columns)});
    places.b.push_back({batch(problem.batched_b(), b), -1, front(b.columns), front(b.rows)});
    places.d.push_back({batch(true, d), front(d.rows), front(d.columns), -1});
  }
  return places;
}

std::vector<Assignment> homes(const Grid& grid, const GridCuts& cuts, const OperandPlaces& places) {
  const Places a = parts(places.a, cuts), b = parts(places.b, cuts), d = parts(places.d, cuts);
  return {{"where D lies", around(grid, d, a, b)},
          {"where A lies", around(grid, a, d, b)},
          {"where B lies", around(grid, b, d, a)}};
}

}  // namespace partita::multiplication
