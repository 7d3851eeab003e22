// The settings of a context that the environment has a say in. It wins over the options, so that a program
// need not be changed to be run another way.
#pragma once

#include <partita/context.hpp>

namespace partita {

/// `options` with PARTITA_DEADLINE, PARTITA_THREADS, PARTITA_RANKS_PER_NODE and PARTITA_MACHINE in them.
/// Throws ArgumentError for a bad value, of the options too: it names the variable or the option. Local.
ContextOptions with_environment(ContextOptions options);

}  // namespace partita
