#include <partita/matmul.hpp>

#include "matmul/assembly.hpp"
#include "matmul/identity.hpp"

namespace partita {

Plan plan_matmul(const MatmulOperands& operands, const Topology& topology, int rank,
                 const MatmulOptions& options, const Machine& machine, bool in_place) {
  using multiplication::Assembly;
  Plan plan =
      Assembly(multiplication::make_problem(operands, topology, rank, options, machine, in_place)).finish();
  plan.identity = multiplication::facts(operands, options, in_place);
  return plan;
}

}  // namespace partita
