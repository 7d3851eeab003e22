#include "execute/put_move.hpp"

#include "plan/work.hpp"

namespace partita {

void put_move(Accelerator& device, const Plan& plan, const Step& step, std::span<const StridedCopy> nests,
              const char* from, char* to, bool inside, Stream stream) {
  for (const StridedCopy& nest : nests) {
    if (step.kind == StepKind::copy) {
      device.copy(nest, from, to, stream, inside);
    } else {
      device.accumulate(nest, dtype_at(plan, step.to), step.reduction, from, to, stream);
    }
  }
}

}  // namespace partita
