// What the tilings have in common that leave one operand where it lies.
#pragma once

#include "matmul/tilings.hpp"

namespace partita::multiplication {

/// Tile of a rank: (batch, I, J) = what it holds of D, all of k.
Tiling stationary_d(const Problem& problem, MatmulMethod method, std::string name, std::string reason);

/// Tile of a rank: what it holds of A, all of n. Of several ranks that hold the same the first one works.
Tiling stationary_a(const Problem& problem, MatmulMethod method, std::string name, std::string reason);

/// Tile of a rank: what it holds of B, all of m. Of several ranks that hold the same the first one works.
Tiling stationary_b(const Problem& problem, MatmulMethod method, std::string name, std::string reason);

/// Tile of rank r: everything along m and n, the r-th even slab of k.
Tiling split_k(const Problem& problem, MatmulMethod method, std::string name, std::string reason);

/// k cut as A's columns are, else as B's rows are, else evenly.
Tiling cut_along_k(const Problem& problem, MatmulMethod method, std::string name, std::string reason);

}  // namespace partita::multiplication
