// The named algorithms as tilings. With the letters of D's mesh, rank (r, c) computes all of its part,
//   D[I_r, J_c] = sum over panels K of A[I_r, K] B[K, J_c]  (local, all-gather, SUMMA: van de Geijn and Watts
//   1997),
// with those of A's mesh, the sums over c of A[I_r, K_c] B[K_c, :], and with those of B's mesh, the sums over
// r of A[:, K_r] B[K_r, J_c], are sent to the holders of D; with the letter k alone, those of A[:, K_r]
// B[K_r, :]: docs/algorithms.md.
#include "matmul/choose/tiling.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace partita::multiplication {
namespace {

/// The operand on whose mesh the letters are; or k alone.
enum class Stays : std::uint8_t { a, b, d, k };

struct Algorithm {
  const char* reason;
  Stays stays;
};

/// By method, without `automatic`.
constexpr std::array<Algorithm, 7> algorithms{{
    {"every rank owns its factors", Stays::d},
    {"every rank computes its part of D", Stays::d},
    {"k is distributed over the ranks, sums are scattered", Stays::k},
    {"k is distributed over the ranks, every rank gets the sums", Stays::k},
    {"D stays in place, panels of A and B move", Stays::d},
    {"A stays in place, B and sums move", Stays::a},
    {"B stays in place, A and sums move", Stays::b},
}};

bool is_cut(const Operand& operand, int dimension) {
  const Layout& layout = operand.layout;
  return std::ranges::any_of(std::array{0, layout.ranks() - 1}, [&](int rank) {
    return layout.local_shape(rank)[dimension] < layout.shape()[dimension];
  });
}

Stays cut_along_k(const Problem& problem) {
  if (is_cut(problem.a, problem.a.layout.dimensions() - 1)) return Stays::a;
  return is_cut(problem.b, problem.b.layout.dimensions() - 2) ? Stays::b : Stays::k;
}

/// Of several ranks that hold the same of A or B the first one multiplies, so that nothing is counted twice.
Tile tile_where_it_stays(const Problem& problem, Stays stays, int rank) {
  const HeldOperand& operand = stays == Stays::d ? problem.d : problem.input(stays == Stays::a);
  const std::vector<IndexSet>& held = operand.held.by(rank).sets;
  const bool multiplies = stays == Stays::d || operand.held.first_holder(rank) == rank;
  if (held.empty() || !multiplies || (stays != Stays::d && operand.held.by(rank).empty())) return {};
  const auto whole = [](std::int64_t extent) { return IndexSet::range(0, extent); };
  Tile tile{{}, whole(problem.m()), whole(problem.n()), whole(problem.k())};
  for (int i = 0; i < problem.batches(); ++i) {
    tile.batch.push_back(operand.batched() ? held[static_cast<std::size_t>(i)]
                                           : whole(problem.d.layout.shape()[i]));
  }
  (stays == Stays::b ? tile.k : tile.m) = held[held.size() - 2];
  (stays == Stays::a ? tile.k : tile.n) = held[held.size() - 1];
  return tile;
}

std::function<Tile(int)> slabs_along(const Problem& problem, Letter letter) {
  Cuts cuts = uncut(problem);
  distribution::Cut& cut = cuts[static_cast<std::size_t>(letter)];
  cut = distribution::Cut::balanced(cut.extent, problem.ranks());
  return tiles_of_meshes(problem, cuts)({{letter, problem.ranks()}});
}

/// The parts of all dimensions, shared by all copies of the tilings.
struct MeshParts {
  Shape leading;
  int cut_batch = -1;
  PerLetter<std::vector<IndexSet>> sets;

  MeshParts(const Problem& problem, const Cuts& cuts) : cut_batch(multiplication::cut_batch(problem)) {
    for (int i = 0; i < problem.batches(); ++i) leading.push_back(problem.d.layout.shape()[i]);
    for (std::size_t letter = 0; letter < cuts.size(); ++letter) {
      for (std::int64_t i = 0; i < cuts[letter].parts; ++i) sets[letter].push_back(cuts[letter].set(i));
    }
  }

  Tile tile(const LetteredMesh& mesh, std::int64_t rank) const {
    PerLetter<std::int64_t> at{};
    for (auto axis = mesh.rbegin(); axis != mesh.rend(); rank /= (axis++)->size)
      at[static_cast<std::size_t>(axis->letter)] += rank % axis->size * axis->stride;
    Tile tile;
    tile.batch.resize(static_cast<std::size_t>(leading.size()));
    if (rank > 0) return tile;  // beyond the mesh
    const auto part = [&](std::size_t letter) { return sets[letter][static_cast<std::size_t>(at[letter])]; };
    for (int i = 0; i < leading.size(); ++i) {
      tile.batch[static_cast<std::size_t>(i)] = i == cut_batch ? part(0) : IndexSet::range(0, leading[i]);
    }
    return {std::move(tile.batch), part(1), part(2), part(3)};
  }
};

}  // namespace

bool Tile::empty() const {
  return m.empty() || n.empty() || k.empty() || std::ranges::any_of(batch, &IndexSet::empty);
}

Region matrix_region(const std::vector<IndexSet>& batch, const IndexSet& rows, const IndexSet& columns) {
  Region region{batch};
  region.sets.push_back(rows);
  region.sets.push_back(columns);
  return region;
}

Region region_of(const Problem& problem, const Tile& tile, bool of_a) {
  static const std::vector<IndexSet> none;
  const std::vector<IndexSet>& batch = problem.input(of_a).batched() ? tile.batch : none;
  return of_a ? matrix_region(batch, tile.m, tile.k) : matrix_region(batch, tile.k, tile.n);
}

Region region_of_d(const Tile& tile) {
  return matrix_region(tile.batch, tile.m, tile.n);
}

int cut_batch(const Problem& problem) {
  const Shape& shape = problem.d.layout.shape();
  int longest = -1;
  for (int i = 0; i < problem.batches(); ++i) {
    if (longest < 0 || shape[i] > shape[longest]) longest = i;
  }
  return longest;
}

Cuts uncut(const Problem& problem) {
  const int batch = cut_batch(problem);
  const auto whole = [](std::int64_t extent) { return distribution::Cut::balanced(extent, 1); };
  return {whole(batch < 0 ? 1 : problem.d.layout.shape()[batch]), whole(problem.m()), whole(problem.n()),
          whole(problem.k())};
}

TilesOfMesh tiles_of_meshes(const Problem& problem, const Cuts& cuts) {
  return [parts = std::make_shared<const MeshParts>(problem, cuts)](LetteredMesh mesh) {
    return [parts, mesh = std::move(mesh)](int rank) { return parts->tile(mesh, rank); };
  };
}

Tiling tiling_of(const Problem& problem, MatmulMethod method) {
  const Algorithm& algorithm = algorithms.at(static_cast<std::size_t>(method) - 1);
  const Stays stays = algorithm.stays == Stays::k ? cut_along_k(problem) : algorithm.stays;
  Tiling tiling{method, std::string(name(method)), algorithm.reason, {}, stays == Stays::d};
  if (stays == Stays::k)
    tiling.tile = slabs_along(problem, Letter::k);
  else
    tiling.tile = [problem, stays](int rank) { return tile_where_it_stays(problem, stays, rank); };
  return tiling;
}

Tiling slabs_for_all(const Problem& problem) {
  return {MatmulMethod::all_reduce, "all-reduce by slabs",
          "each rank computes a slab of D and sends it to all",
          slabs_along(problem, problem.m() >= problem.n() ? Letter::m : Letter::n), false};
}

}  // namespace partita::multiplication
