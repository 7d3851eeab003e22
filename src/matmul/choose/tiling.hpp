// Who multiplies what: the one thing in which the algorithms of matrix multiply differ.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "matmul/problem.hpp"

namespace partita::multiplication {

/// A rank's share of the work: D[batch, I, J] += sum over K of A[batch, I, K] B[batch, K, J], in the index
/// spaces of op(A), op(B) and D. Any sets (cyclic ones too); an empty set: the rank multiplies nothing.
struct Tile {
  std::vector<IndexSet> batch;  ///< one set a leading dimension of D
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
  /// Every rank's tile is what it holds of D, with all of k: nothing is reduced, and where D has replicas
  /// each of them repeats the work (the one case in which tiles may cover something twice).
  bool stationary_d = false;
};

/// The index sets of the last two dimensions, and of the batch dimensions before them, that a rank holds of
/// operand a, b or d of the problem; a missing batch dimension is whole.
struct OwnedSets {
  std::vector<IndexSet> batch;
  IndexSet rows;
  IndexSet columns;
};
OwnedSets holding(const Problem& problem, const HeldOperand& operand, int rank);

/// The tiling of a named method, which leaves one operand where it lies or cuts k alone; not of
/// communication_avoiding.
Tiling tiling_of(const Problem& problem, MatmulMethod method);

/// Of a D on all ranks: each makes all of a slab, the longer way across, which then goes to the others.
Tiling slabs_for_all(const Problem& problem);

}  // namespace partita::multiplication
