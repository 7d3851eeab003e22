#include "base/check.hpp"
#include "execute/bound_work.hpp"

namespace partita {

std::unique_ptr<BoundWork> bind_twiddle(const Twiddle& /*work*/, const WorkBinding& /*binding*/) {
  throw UnsupportedError("twiddle is not built yet");
}

}  // namespace partita
