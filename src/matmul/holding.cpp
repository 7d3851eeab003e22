#include "matmul/tilings.hpp"

namespace partita::multiplication {

Holding holding(const Problem& problem, const Operand& operand, int rank) {
  const Region region = operand.layout.region(rank);
  const auto dimensions = static_cast<std::size_t>(operand.layout.dimensions());
  Holding result;
  if (region.sets.size() != dimensions) return result;
  for (int i = 0; i < problem.batches(); ++i) {
    const bool batched = dimensions > 2;
    result.batch.push_back(batched ? region.sets[static_cast<std::size_t>(i)]
                                   : IndexSet::range(0, problem.d.layout.shape()[i]));
  }
  result.rows = region.sets[dimensions - 2];
  result.columns = region.sets[dimensions - 1];
  return result;
}

}  // namespace partita::multiplication
