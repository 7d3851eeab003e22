#include "execute/device/put_move.hpp"

#include <array>

#include "kernels/host/fill.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita::execution {

devices::CopyScope scope_of(const Plan& plan, const Step& step) {
  const bool inside = planning::other_rank(plan, step) == plan.rank;
  return inside ? devices::CopyScope::inside : devices::CopyScope::any;
}

void put_move(devices::Accelerator& device, const Plan& plan, const Step& step,
              std::span<const kernels::StridedCopy> nests, const char* from, char* to,
              devices::CopyScope scope, Stream stream) {
  for (const kernels::StridedCopy& nest : nests) {
    if (step.kind == StepKind::copy) {
      device.copy(nest, from, to, stream, scope);
    } else {
      device.accumulate(nest, planning::dtype_at(plan, step.to), step.reduction, from, to, stream);
    }
  }
}

void put_move(devices::Accelerator& device, const Plan& plan, const Step& step,
              std::span<const kernels::StridedCopy> nests, const PlanMemory& memory, devices::CopyScope scope,
              Stream stream) {
  char* const to = memory.address(step.to);
  if (step.kind != StepKind::fill) {
    return put_move(device, plan, step, nests, memory.address(step.from), to, scope, stream);
  }
  std::array<unsigned char, 16> identity{};
  const Dtype dtype = planning::dtype_at(plan, step.to);
  write_identity(step.reduction, dtype, identity.data());
  for (const kernels::StridedCopy& nest : nests)
    device.fill(nest, identity.data(), size_of(dtype), to, stream);
}

}  // namespace partita::execution
