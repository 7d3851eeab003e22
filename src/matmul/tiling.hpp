// Who multiplies what: the one thing in which the algorithms of matrix multiply differ.
#pragma once

#include <functional>
#include <partita/matmul.hpp>
#include <string>
#include <vector>

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

}  // namespace partita::multiplication
