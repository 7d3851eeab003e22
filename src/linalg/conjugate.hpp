// Complex conjugates of arrays.
#pragma once

#include <partita/array.hpp>

namespace partita::linear {

/// In place; nothing for real arrays. Local; on devices in the order of the context's own stream.
void conjugate(Array& a);

}  // namespace partita::linear
