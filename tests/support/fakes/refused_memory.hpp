// Memory that one rank does not get.
#pragma once

#include <cstdint>

namespace partita::testing {

/// For as long as it lives, the thread that made it gets no memory where the library asks for it at once: not
/// from aligned_alloc, where all private scratch comes from, and not from a fake device.
class RefusedMemory {
 public:
  RefusedMemory();
  ~RefusedMemory();
  RefusedMemory(const RefusedMemory&) = delete;
  RefusedMemory& operator=(const RefusedMemory&) = delete;
};

/// Whether the calling thread has one.
bool memory_is_refused();

}  // namespace partita::testing
