// The named algorithms as tilings.
//
// D stays where it is, and rank (r, c) of its grid makes all of what it holds,
//   D[I_r, J_c] = sum over panels K of A[I_r, K] B[K, J_c].
// Local: every rank holds the rows of A and the columns of B that it needs. All-gather: what is missing of A
// or B is read or received piece by piece, the own piece first. SUMMA (van de Geijn and Watts 1997): A's
// panels come from its grid row, B's from its grid column, in Cannon's skewed order, so that no two ranks of
// a row or column ask the same owner at the same time.
//
// A stays where it is: rank (r, c) of A's grid makes, for all columns,
//   T_c[I_r, :] = A[I_r, K_c] B[K_c, :],
// B's rows K_c coming from where they are, and D[I_r, J] = sum over c of T_c[I_r, J] goes to its holders.
// Likewise where B stays: T_r[:, J_c] = A[:, K_r] B[K_r, J_c].
//
// Reduce-scatter: k is cut over the ranks as A's columns are (B's rows where A is not cut along k),
//   T_r = A[I_r, K_r] B[K_r, :],  D = sum over r of T_r,
// each rank making the pieces of T_r for its peers first and its own last, so that peers can already add.
// All-reduce: the same, but every rank gets the whole sum: each adds one slab of D, which then goes to all.
#include "matmul/choose/tiling.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace partita::multiplication {
namespace {

/// What stays where it lies; k: A or B, whichever is cut along k.
enum class Stays : std::uint8_t { a, b, d, k };

struct Algorithm {
  const char* reason;
  Stays stays;
};

/// By method, but for `automatic`.
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
  for (const int rank : {0, layout.ranks() - 1}) {
    if (layout.local_shape(rank)[dimension] < layout.shape()[dimension]) return true;
  }
  return false;
}

Stays cut_along_k(const Problem& problem) {
  if (is_cut(problem.a, problem.a.layout.dimensions() - 1)) return Stays::a;
  return is_cut(problem.b, problem.b.layout.dimensions() - 2) ? Stays::b : Stays::k;
}

/// Everything along m and n, the rank's even slab of k.
Tile slab_of_k(const Problem& problem, int rank) {
  Tile tile;
  for (int i = 0; i < problem.batches(); ++i) {
    tile.batch.push_back(IndexSet::range(0, problem.d.layout.shape()[i]));
  }
  tile.m = IndexSet::range(0, problem.m());
  tile.n = IndexSet::range(0, problem.n());
  tile.k = IndexSet::range(problem.k() * rank / problem.ranks(), problem.k() * (rank + 1) / problem.ranks());
  return tile;
}

/// Of several ranks that hold the same of A or B the first one works, so that nothing is counted twice.
Tile tile_of(const Problem& problem, Stays stays, int rank) {
  if (stays == Stays::k) return slab_of_k(problem, rank);
  const HeldOperand& operand = stays == Stays::a ? problem.a : stays == Stays::b ? problem.b : problem.d;
  const bool works = !operand.held.by(rank).empty() && operand.held.first_holder(rank) == rank;
  if (stays != Stays::d && !works) return {};
  OwnedSets held = holding(problem, operand, rank);
  if (stays == Stays::a) return {held.batch, held.rows, IndexSet::range(0, problem.n()), held.columns};
  if (stays == Stays::b) return {held.batch, IndexSet::range(0, problem.m()), held.columns, held.rows};
  return {held.batch, held.rows, held.columns, IndexSet::range(0, problem.k())};
}

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

OwnedSets holding(const Problem& problem, const HeldOperand& operand, int rank) {
  const std::vector<IndexSet>& held = operand.held.by(rank).sets;
  const auto dimensions = static_cast<std::size_t>(operand.layout.dimensions());
  OwnedSets result;
  if (held.size() != dimensions) return result;
  for (int i = 0; i < problem.batches(); ++i) {
    result.batch.push_back(operand.batched() ? held[static_cast<std::size_t>(i)]
                                             : IndexSet::range(0, problem.d.layout.shape()[i]));
  }
  result.rows = held[dimensions - 2];
  result.columns = held[dimensions - 1];
  return result;
}

Tiling tiling_of(const Problem& problem, MatmulMethod method) {
  const Algorithm& algorithm = algorithms.at(static_cast<std::size_t>(method) - 1);
  const Stays stays = algorithm.stays == Stays::k ? cut_along_k(problem) : algorithm.stays;
  const auto tile = [problem, stays](int rank) { return tile_of(problem, stays, rank); };
  return {method, std::string(name(method)), algorithm.reason, tile, stays == Stays::d};
}

Tiling slabs_for_all(const Problem& problem) {
  const auto tile_of = [problem](int rank) {
    Tile tile = slab_of_k(problem, rank);
    tile.k = IndexSet::range(0, problem.k());
    const bool rows = problem.m() >= problem.n();
    const std::int64_t lines = rows ? problem.m() : problem.n();
    (rows ? tile.m : tile.n) =
        IndexSet::range(lines * rank / problem.ranks(), lines * (rank + 1) / problem.ranks());
    return tile;
  };
  return {MatmulMethod::all_reduce, "all-reduce by slabs",
          "each rank computes a slab of D and sends it to all", tile_of, false};
}

}  // namespace partita::multiplication
