// What the ranks tell each other before they use NVSHMEM.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace partita {

struct NvshmemCapabilities {
  int version = 0;
  std::uint64_t device = 0;  ///< another number for each device; NVSHMEM wants one for each process
  std::int64_t bytes = 0;    ///< of memory that this rank could give, if NVSHMEM is to be started
  std::uint64_t world = 0;   ///< which start this process belongs to; 0: none yet
  int pe = 0;                ///< in that world
};

/// Why these ranks cannot use it together; empty: nothing speaks against it. The same on all ranks.
std::string obstacle(std::span<const NvshmemCapabilities> offers);

/// NVSHMEM_SYMMETRIC_SIZE: "1.5G" and the like in bytes; unset: `otherwise`. Throws ArgumentError.
std::int64_t symmetric_size_of_environment(std::int64_t otherwise);

}  // namespace partita
