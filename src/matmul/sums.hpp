// Which products a rank adds up, in which order.
#pragma once

#include <vector>

#include "matmul/cutting.hpp"

namespace partita::multiplication {

/// One product that goes into a sum.
struct Contribution {
  int rank = 0;              ///< that made it
  std::int64_t offset = -1;  ///< in that rank's `products`; negative: this rank has made it in place
};

/// The products of one region, this rank's own first, then by distance from it.
struct Sum {
  Region region;
  std::vector<Contribution> contributions;

  bool begun_in_place() const { return !contributions.empty() && contributions.front().offset < 0; }
};

/// What a rank has to add up, ordered by front; the same order in which each contributor lists its products.
struct Sums {
  std::vector<Sum> sums;
  /// Regions of different contributors overlap in part: then each sum is one contribution, and all are added
  /// to zero.
  bool irregular = false;
};
Sums sums_of(const Frame& frame, Cutting& cutting, const std::vector<Product>& own);

}  // namespace partita::multiplication
