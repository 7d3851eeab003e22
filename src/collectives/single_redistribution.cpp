#include <partita/redistribute.hpp>

#include "collectives/plans.hpp"

namespace partita::collective {

Plan plan_single_redistribution(const Request& request) {
  constexpr const char* names[] = {"source", "destination"};
  Plan part = plan_redistribute(request.operands[0], request.operands[1], request.topology, request.rank,
                                request.redistribution());
  Chain chain(request, names, part.method, part.reason);
  chain.builder().append(std::move(part), 0, 1);
  return chain.take();
}

}  // namespace partita::collective
