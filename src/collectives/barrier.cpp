#include <partita/collectives.hpp>

namespace partita {

void barrier(const Context& context) {
  context.barrier();
}

}  // namespace partita
