#include "base/check.hpp"
#include "execute/bound_work.hpp"

namespace partita {

std::unique_ptr<BoundWork> bind_sum_along(const SumAlong& /*work*/, const WorkBinding& /*binding*/) {
  throw UnsupportedError("sum_along is not built yet");
}

}  // namespace partita
