// Arrays where the host reads them.
#pragma once

#include <partita/array.hpp>

namespace on_device {

/// The array itself, or a copy in host memory if it is in a device's memory. Collective.
inline partita::Array host_copy(const partita::Array& array) {
  if (array.local().space == partita::MemorySpace::host) return array;
  partita::Array copied =
      partita::empty(array.context(), array.layout(), array.dtype(),
                     {.residency = partita::Residency::ordinary, .space = partita::MemorySpace::host});
  partita::copy(array, copied, partita::Stream());
  return copied;
}

}  // namespace on_device
