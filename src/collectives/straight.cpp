#include <partita/redistribute.hpp>

#include "collectives/plans.hpp"

namespace partita::collective {

Plan plan_straight(const Request& request) {
  constexpr const char* names[] = {"source", "destination"};
  Plan part = plan_redistribute(request.operands[0], request.operands[1], request.topology, request.rank);
  Chain chain(request, names, part.method, part.reason);
  chain.append(0, 1, std::move(part));
  return chain.take();
}

}  // namespace partita::collective
