// Copies, accumulations and fills of a plan, as a device gets them.
#pragma once

#include <partita/plan.hpp>
#include <span>

#include "device/accelerator.hpp"
#include "execute/plan_memory.hpp"

namespace partita::execution {

/// Puts a copy or accumulation, lowered to `nests`, into the stream. `inside`: both sides are the device's
/// own memory.
void put_move(devices::Accelerator& device, const Plan& plan, const Step& step,
              std::span<const kernels::StridedCopy> nests, const char* from, char* to, bool inside,
              Stream stream);

/// The same between places of `memory`; also a fill.
void put_move(devices::Accelerator& device, const Plan& plan, const Step& step,
              std::span<const kernels::StridedCopy> nests, const PlanMemory& memory, bool inside,
              Stream stream);

}  // namespace partita::execution
