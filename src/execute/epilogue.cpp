#include "base/check.hpp"
#include "execute/bound_work.hpp"

namespace partita {

std::unique_ptr<BoundWork> bind_epilogue(const ApplyEpilogue& /*work*/, const WorkBinding& /*binding*/) {
  throw UnsupportedError("epilogue is not built yet");
}

}  // namespace partita
