#include "matmul/tilings.hpp"

namespace partita::multiplication {

Holding holding(const Problem& problem, const Operand& operand, const Region& held) {
  const auto dimensions = static_cast<std::size_t>(operand.layout.dimensions());
  Holding result;
  if (held.sets.size() != dimensions) return result;
  for (int i = 0; i < problem.batches(); ++i) {
    const bool batched = dimensions > 2;
    result.batch.push_back(batched ? held.sets[static_cast<std::size_t>(i)]
                                   : IndexSet::range(0, problem.d.layout.shape()[i]));
  }
  result.rows = held.sets[dimensions - 2];
  result.columns = held.sets[dimensions - 1];
  return result;
}

}  // namespace partita::multiplication
