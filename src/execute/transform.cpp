#include "base/check.hpp"
#include "execute/bound_work.hpp"

namespace partita {

std::unique_ptr<BoundWork> bind_transform(const Transform& /*work*/, const WorkBinding& /*binding*/) {
  throw UnsupportedError("transform is not built yet");
}

}  // namespace partita
