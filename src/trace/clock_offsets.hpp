// How far the clocks of ranks are apart.
#pragma once

#include <vector>

namespace partita {

struct ContextState;

/// Seconds that the steady clock of each rank is ahead of that of rank 0; 0 on rank 0's machine, and the same
/// for all ranks of a machine. Collective, blocking; the same on every rank.
std::vector<double> clock_offsets(ContextState& state);

}  // namespace partita
