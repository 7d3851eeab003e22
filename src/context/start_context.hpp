// The last steps of making a context, for `initialize` and `subgroup` alike.
#pragma once

namespace partita {

struct ContextState;

/// Gives a context whose group, options and threads are set its shared memory, board, heap, and the hold on
/// the threads of BLAS. Collective over the group, blocking.
void start_context(ContextState& state);

}  // namespace partita
