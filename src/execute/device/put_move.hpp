// Copies, accumulations and fills of a plan, as a device gets them.
#pragma once

#include <partita/plan.hpp>
#include <span>

#include "device/accelerator.hpp"
#include "execute/plan_memory.hpp"

namespace partita::execution {

/// `inside` where both sides are memory of the plan's rank.
devices::CopyScope scope_of(const Plan& plan, const Step& step);

/// Puts a copy or accumulation, lowered to `nests`, into the stream.
void put_move(devices::Accelerator& device, const Plan& plan, const Step& step,
              std::span<const kernels::StridedCopy> nests, const char* from, char* to,
              devices::CopyScope scope, Stream stream);

/// The same between places of `memory`; also a fill.
void put_move(devices::Accelerator& device, const Plan& plan, const Step& step,
              std::span<const kernels::StridedCopy> nests, const PlanMemory& memory, devices::CopyScope scope,
              Stream stream);

}  // namespace partita::execution
