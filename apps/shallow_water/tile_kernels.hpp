// The step on a device, tile by tile.
#pragma once

#include "device/queue.hpp"
#include "shallow_water/equations.hpp"
#include "shallow_water/tiles.hpp"

namespace shallow_water {

/// `advance` of all tiles that are there, into the queue, which is a device's: the part is in its memory.
template <class T>
void advance_tiles(const on_device::Queue& queue, const Part<T>& part, const Coefficients<T>& coefficients,
                   Where where);

namespace cuda {
template <class T>
void advance_tiles(const Part<T>& part, const Coefficients<T>& coefficients, Where where, void* stream);
}

}  // namespace shallow_water
