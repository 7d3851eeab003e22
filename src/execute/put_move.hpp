// Copies and accumulations of a plan, as a device gets them.
#pragma once

#include <partita/plan.hpp>
#include <span>

#include "device/accelerator.hpp"

namespace partita {

/// Puts a copy or accumulation, lowered to `nests`, into the stream. `inside`: both sides are the device's
/// own memory.
void put_move(Accelerator& device, const Plan& plan, const Step& step, std::span<const StridedCopy> nests,
              const char* from, char* to, bool inside, Stream stream);

}  // namespace partita
