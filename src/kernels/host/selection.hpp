// Elements that are chosen by their positions, and the positions of those that are true.
#pragma once

#include "base/sequence_passes.hpp"

namespace partita::kernels {

/// Thread-safe.
void gather(const GatherPass& pass);

/// Thread-safe.
void find_true(const TruePass& pass);

}  // namespace partita::kernels
