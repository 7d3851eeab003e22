#include "base/check.hpp"
#include "execute/bound_work.hpp"

namespace partita {

std::unique_ptr<BoundWork> bind_multiply(const Multiply& /*work*/, const WorkBinding& /*binding*/) {
  throw UnsupportedError("multiply is not built yet");
}

}  // namespace partita
