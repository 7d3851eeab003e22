// Who multiplies what, the one thing in which the algorithms of matrix multiply differ: one letter for each
// axis of a mesh of ranks.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "distribution/cut.hpp"
#include "matmul/problem.hpp"

namespace partita::multiplication {

/// A rank's share of the work: D[batch, I, J] += sum over K of A[batch, I, K] B[batch, K, J], in the index
/// spaces of op(A), op(B) and D. Any sets, also cyclic ones. If one is empty, the rank multiplies nothing.
struct Tile {
  std::vector<IndexSet> batch;  ///< one set per leading dimension of D
  IndexSet m;
  IndexSet n;
  IndexSet k;

  bool empty() const;
};

Region matrix_region(const std::vector<IndexSet>& batch, const IndexSet& rows, const IndexSet& columns);

/// Elements of op(A) or op(B), and of D, that a tile takes part in.
Region region_of(const Problem& problem, const Tile& tile, bool of_a);
Region region_of_d(const Tile& tile);

/// The tiles of all ranks: together they cover every (batch, i, j, k) exactly once. Pure; asked for any rank.
struct Tiling {
  MatmulMethod method = MatmulMethod::local;
  std::string name;    ///< "all-gather", "summa-c", "communication-avoiding 4x2x2", ...
  std::string reason;  ///< why, in a few words
  std::function<Tile(int rank)> tile;
  /// Every rank's tile is what it holds of D, with all of k: nothing is reduced, and each of the replicas of
  /// D repeats the work (the one case in which tiles may cover something twice).
  bool stationary_d = false;
};

/// What an axis of a mesh cuts.
enum class Letter : std::uint8_t { batch, m, n, k };
template <class Value>
using PerLetter = std::array<Value, 4>;

/// A mesh of ranks, from its slowest axis to its fastest. The part of a letter is the sum of the coordinates
/// along its axes times their strides. Ranks beyond the product of the sizes multiply nothing.
struct MeshAxis {
  Letter letter;
  std::int64_t size;
  std::int64_t stride = 1;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};
using LetteredMesh = std::vector<MeshAxis>;

/// How each dimension is cut, as often as all axes with its letter count.
using Cuts = PerLetter<distribution::Cut>;
Cuts uncut(const Problem& problem);
/// The leading dimension that the letter `batch` cuts, the longest; -1: there is none.
int cut_batch(const Problem& problem);

/// The tiles of any mesh with these cuts.
using TilesOfMesh = std::function<std::function<Tile(int rank)>(LetteredMesh mesh)>;
TilesOfMesh tiles_of_meshes(const Problem& problem, const Cuts& cuts);

/// The tiling of a named method, except communication_avoiding. Its letters are those of an operand's own
/// mesh, whatever its layout: m and n where D stays in place, m and k where A does, k and n where B does; or
/// one axis of all ranks, k.
Tiling tiling_of(const Problem& problem, MatmulMethod method);

/// For a D on all ranks: one axis of all ranks, m or n, the longer one. The slabs of D are then sent to all.
Tiling slabs_for_all(const Problem& problem);

}  // namespace partita::multiplication
