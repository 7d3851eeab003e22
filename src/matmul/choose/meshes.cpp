#include "matmul/choose/meshes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/round.hpp"
#include "matmul/choose/scratch_account.hpp"

namespace partita::multiplication {
namespace {

using distribution::Cut;

constexpr double rather_uneven = 1.1;  // a grid of fewer ranks, if its price is right

/// Whether fewer parts would be as long: then the last ones are empty.
bool wasteful(std::int64_t extent, std::int64_t parts) {
  return parts > 1 && ceil_divide(extent, ceil_divide(extent, parts)) < parts;
}

double product(std::int64_t a, std::int64_t b, std::int64_t c = 1, std::int64_t d = 1) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c) * static_cast<double>(d);
}

/// The letters of the last two dimensions of A, B or D.
std::array<Letter, 2> letters_of(const Problem& problem, const HeldOperand& operand) {
  if (&operand == &problem.a) return {Letter::m, Letter::k};
  return {&operand == &problem.b ? Letter::k : Letter::m, Letter::n};
}

/// The mesh on which the operand is distributed, slowest axis first, found by where its rows and columns
/// begin on each rank. Of an operand on no mesh: what looks like one.
LetteredMesh own_mesh(const Problem& problem, const HeldOperand& operand) {
  std::vector<std::pair<int, MeshAxis>> axes;  // with the stride in ranks
  const std::array<Letter, 2> letters = letters_of(problem, operand);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto begin = [&](int rank) {
      const Region& held = operand.held.by(rank);
      return held.empty() ? -1 : held.sets[held.sets.size() - 2 + i].front();
    };
    int stride = 1;
    while (stride < problem.ranks() && begin(stride) == begin(0)) ++stride;
    int end = stride;
    while (end < problem.ranks() && begin(end) != begin(0)) end += stride;
    if (stride < problem.ranks()) axes.push_back({stride, {letters[i], end / stride}});
  }
  if (axes.size() == 2 && axes[0].first < axes[1].first) std::swap(axes[0], axes[1]);
  LetteredMesh mesh;
  for (const auto& [stride, axis] : axes) mesh.push_back(axis);
  return mesh;
}

/// The operand's mesh, its axes split so that the grid has as many parts of each letter: an axis of 64 ranks
/// along m becomes one of 16 for m and one of 4 for the letter that the operand lacks. Ranks then need what
/// they own.
LetteredMesh mesh_like(const Problem& problem, const HeldOperand& operand, const Grid& grid) {
  const PerLetter<std::int64_t> parts{grid.batch, grid.m, grid.n, grid.k};
  PerLetter<std::int64_t> open = parts, filled{1, 1, 1, 1};
  const LetteredMesh axes = own_mesh(problem, operand);
  const auto own_part = [&](const MeshAxis& axis) {
    return std::gcd(axis.size, parts[static_cast<std::size_t>(axis.letter)]);
  };
  for (const MeshAxis& axis : axes) open[static_cast<std::size_t>(axis.letter)] /= own_part(axis);
  PerLetter<std::size_t> letters{0, 1, 2, 3};  // that of which the operand has nothing first
  const std::array<Letter, 2> own = letters_of(problem, operand);
  std::ranges::stable_partition(letters, [&](std::size_t letter) {
    return std::ranges::find(own, static_cast<Letter>(letter)) == own.end();
  });
  LetteredMesh mesh;
  const auto fill = [&](std::int64_t ranks) {
    for (const std::size_t letter : letters) {
      const std::int64_t size = ranks == 0 ? open[letter] : std::gcd(ranks, open[letter]);
      mesh.push_back({static_cast<Letter>(letter), size, filled[letter]});
      open[letter] /= size;
      filled[letter] *= size;
      ranks /= size;
    }
  };
  for (const MeshAxis& axis : axes) {
    const std::int64_t size = own_part(axis);
    mesh.push_back({axis.letter, size, parts[static_cast<std::size_t>(axis.letter)] / size});
    fill(axis.size / size);
  }
  fill(0);
  return mesh;
}

/// Without axes of one rank, and adjacent ones of one letter as one.
LetteredMesh simplified(const LetteredMesh& mesh) {
  LetteredMesh result;
  for (const MeshAxis& axis : mesh) {
    if (axis.size == 1) continue;
    if (!result.empty() && result.back().letter == axis.letter &&
        result.back().stride == axis.stride * axis.size) {
      result.back() = {axis.letter, result.back().size * axis.size, axis.stride};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

/// The six orders of m, n and k, the last one the fastest, so that neighbours on a node share the parts of
/// the others; and the meshes of D, A and B.
std::vector<LetteredMesh> meshes_of(const Problem& problem, const Grid& grid) {
  std::vector<LetteredMesh> result;
  const auto add = [&](const LetteredMesh& whole) {
    LetteredMesh mesh = simplified(whole);
    if (std::ranges::find(result, mesh) == result.end()) result.push_back(std::move(mesh));
  };
  std::array<MeshAxis, 3> order{{{Letter::m, grid.m}, {Letter::n, grid.n}, {Letter::k, grid.k}}};
  do {
    add({{Letter::batch, grid.batch}, order[0], order[1], order[2]});  // batches stay slowest
  } while (std::ranges::next_permutation(order, std::ranges::less(), &MeshAxis::letter).found);
  for (const HeldOperand* const operand : {&problem.d, &problem.a, &problem.b})
    add(mesh_like(problem, *operand, grid));
  return result;
}

std::string to_string(const LetteredMesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh) {
    if (!text.empty()) text += '-';
    text += "bmnk"[static_cast<std::size_t>(axis.letter)];
  }
  return text;
}

/// How `operand` is cut along the dimension if it is distributed cyclically in blocks of b over q: then p
/// parts of a grid are cyclic in blocks of b q / p, and a tile consists of whole parts of its owners.
std::optional<Cut> cyclic_like(const Operand& operand, int dimension, std::int64_t parts) {
  const Layout& layout = operand.layout;
  const auto* rule = layout.distribution().as<BlockCyclic>();
  if (rule == nullptr || !layout.members().empty() || layout.whole_shape() != layout.shape() ||
      rule->grid.first()[dimension] != 0)
    return std::nullopt;
  const std::int64_t extent = layout.shape()[dimension], block = rule->block[dimension],
                     all = block * rule->grid.extents()[dimension];
  if (block > extent || all % parts != 0) return std::nullopt;
  const Cut cut = Cut::cyclic(extent, parts, all / parts);
  const std::int64_t even = ceil_divide(extent, parts);
  return cut.largest() <= even + even / 16 ? std::optional(cut) : std::nullopt;
}

Cuts cuts_of(const Problem& problem, const Grid& grid) {
  const int d = problem.batches(), a = problem.a.batched() ? d : 0, b = problem.b.batched() ? d : 0;
  Cuts cuts = uncut(problem);
  const auto cut = [&](std::size_t letter, std::int64_t parts, const std::optional<Cut>& first = {},
                       const std::optional<Cut>& second = {}) {
    cuts[letter] = first ? *first : second ? *second : Cut::balanced(cuts[letter].extent, parts);
  };
  cut(0, grid.batch);
  cut(1, grid.m, cyclic_like(problem.d, d, grid.m), cyclic_like(problem.a, a, grid.m));
  cut(2, grid.n, cyclic_like(problem.d, d + 1, grid.n), cyclic_like(problem.b, b + 1, grid.n));
  cut(3, grid.k, cyclic_like(problem.a, a + 1, grid.k), cyclic_like(problem.b, b, grid.k));
  return cuts;
}

/// Whether every rank's tile is what it alone holds of D.
bool is_what_each_holds(const Problem& problem, const Grid& grid, const Tiling& tiling) {
  if (grid.k > 1 || problem.d.layout.is_replicated() || problem.d.layout.partial()) return false;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile tile = tiling.tile(rank);
    const Region& held = problem.d.held.by(rank);
    if (tile.empty() ? !held.empty() : region_of_d(tile) != held) return false;
  }
  return true;
}

/// Into how many parts the ranks cut the dimension.
std::int64_t parts_along(const Operand& operand, int dimension) {
  const std::int64_t held = operand.layout.local_shape(0)[dimension];
  return held > 0 ? ceil_divide(operand.layout.shape()[dimension], held) : 1;
}

std::vector<Grid> grids_of(const Problem& problem, int count) {
  const GridSearch search(problem);
  const int d = problem.batches();
  const Grid owners{1, parts_along(problem.d, d), parts_along(problem.d, d + 1),
                    parts_along(problem.a, problem.a.batched() ? d + 1 : 1)};
  std::vector<Grid> grids = search.best(count);
  for (const std::vector<Grid>& more :
       {search.best(1, rather_uneven), search.best(1, slightly_uneven, owners)}) {
    if (!more.empty() && std::ranges::find(grids, more[0]) == grids.end()) grids.push_back(more[0]);
  }
  return grids;
}

}  // namespace

std::string Grid::to_string() const {
  const std::string matrix = fmt::format("{}x{}x{}", m, n, k);
  return batch == 1 ? matrix : fmt::format("{} batches x {}", batch, matrix);
}

GridSearch::GridSearch(const Problem& problem) : problem_(problem) {
  const Cuts whole = uncut(problem);
  extents_ = {whole[0].extent, whole[1].extent, whole[2].extent, whole[3].extent};
  for (int i = 0; i < problem.batches(); ++i) {
    if (i != cut_batch(problem)) planes_ *= problem.d.layout.shape()[i];
  }
}

/// Calls visit(grid) for every choice of parts of batch, m and n, with as many parts of k as ranks are left.
template <class Visit>
void GridSearch::for_each(const Visit& visit) const {
  const auto for_each_part = [](std::int64_t extent, std::int64_t ranks, const auto& visit_part) {
    for (std::int64_t parts = 1; parts <= std::max<std::int64_t>(1, std::min(extent, ranks)); ++parts) {
      if (!wasteful(extent, parts)) visit_part(parts);
    }
  };
  for_each_part(extents_.batch, problem_.ranks(), [&](std::int64_t batch) {
    for_each_part(extents_.m, problem_.ranks() / batch, [&](std::int64_t m) {
      for_each_part(extents_.n, problem_.ranks() / batch / m, [&](std::int64_t n) {
        std::int64_t k = std::max<std::int64_t>(1, std::min(extents_.k, problem_.ranks() / batch / m / n));
        if (wasteful(extents_.k, k)) k = ceil_divide(extents_.k, ceil_divide(extents_.k, k));
        visit(Grid{batch, m, n, k});
      });
    });
  });
}

Grid GridSearch::longest(const Grid& grid) const {
  return {planes_ * ceil_divide(extents_.batch, grid.batch), ceil_divide(extents_.m, grid.m),
          ceil_divide(extents_.n, grid.n), ceil_divide(extents_.k, grid.k)};
}

double GridSearch::received(const Grid& grid) const {
  const Grid tile = longest(grid);
  const double summed = static_cast<double>(grid.k - 1) / static_cast<double>(grid.k);
  return product(problem_.a.batched() ? tile.batch : 1, tile.m, tile.k) +
         product(problem_.b.batched() ? tile.batch : 1, tile.k, tile.n) +
         summed * product(tile.batch, tile.m, tile.n);
}

double GridSearch::multiplications(const Grid& grid) const {
  const Grid tile = longest(grid);
  return product(tile.batch, tile.m, tile.n, tile.k);
}

std::int64_t GridSearch::scratch(const Grid& grid) const {
  const Grid tile = longest(grid);
  const auto demand = Demand::of_all((problem_.a.batched() ? tile.batch : 1) * tile.m,
                                     (problem_.b.batched() ? tile.batch : 1) * tile.n, problem_.k(),
                                     tile.batch * tile.m * tile.n);
  return least_scratch(problem_, demand, false);
}

std::int64_t GridSearch::smallest_scratch() const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for_each([&](const Grid& grid) { least = std::min(least, scratch(grid)); });
  return least;
}

std::vector<Grid> GridSearch::best(int count, double uneven, const Grid& aligned) const {
  struct Rated {
    double elements, work;
    Grid grid;
  };
  const std::int64_t limit = problem_.options.memory_limit;
  const auto suits = [](std::int64_t parts, std::int64_t owners) {
    return parts % owners == 0 || owners % parts == 0;
  };
  std::vector<Rated> rated;
  double least_work = std::numeric_limits<double>::infinity();
  for_each([&](const Grid& grid) {
    const double work = multiplications(grid);
    if (work > uneven * least_work || (limit > 0 && scratch(grid) > limit)) return;
    least_work = std::min(least_work, work);
    if (suits(grid.m, aligned.m) && suits(grid.n, aligned.n) && suits(grid.k, aligned.k))
      rated.push_back({received(grid), work, grid});
  });
  std::erase_if(rated, [&](const Rated& one) { return one.work > uneven * least_work; });
  std::ranges::stable_sort(rated, [](const Rated& a, const Rated& b) {
    return a.elements != b.elements ? a.elements < b.elements : a.work < b.work;
  });
  std::vector<Grid> grids;
  for (const Rated& one : rated) grids.push_back(one.grid);
  grids.resize(std::min(grids.size(), static_cast<std::size_t>(count)));
  return grids;
}

std::vector<Tiling> communication_avoiding_tilings(const Problem& problem, int count) {
  std::vector<Tiling> tilings;
  for (const Grid& grid : grids_of(problem, count)) {
    const TilesOfMesh tiles = tiles_of_meshes(problem, cuts_of(problem, grid));
    for (const LetteredMesh& mesh : meshes_of(problem, grid)) {
      Tiling& tiling = tilings.emplace_back();
      tiling.method = MatmulMethod::communication_avoiding;
      tiling.name = "communication-avoiding " + grid.to_string();
      tiling.reason = fmt::format("a grid of {} over m, n and k moves the fewest bytes", grid.to_string());
      if (mesh.size() > 1) tiling.reason += fmt::format(", ranks in {} order", to_string(mesh));
      tiling.tile = tiles(mesh);
      tiling.stationary_d = is_what_each_holds(problem, grid, tiling);
    }
  }
  return tilings;
}

}  // namespace partita::multiplication
