// What the environment says of a context. It wins over the options, so that a program need not be changed to
// be run another way.
#pragma once

#include <partita/context.hpp>

namespace partita {

/// `options` with the environment's settings of a context in them (runtime/settings.hpp): read once, when the
/// context is made. Throws ArgumentError for a bad value, of the options too: it names the variable or the
/// option. Local.
ContextOptions with_environment(ContextOptions options);

}  // namespace partita
