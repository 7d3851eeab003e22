// How much scratch a redistribution has, and how it is cut. The same on every rank.
#pragma once

#include <cstdint>

#include "redistribute/method.hpp"

namespace partita::redistribution {

/// Sizes in bytes; all multiples of 64, so that every slot starts on a cache line.
struct Staging {
  std::int64_t chunk = 0;          ///< of a piece that goes through shared staging
  int slots = 0;                   ///< of the ring of one ordered pair
  std::int64_t shared_bytes = 0;   ///< (largest node - 1) * slots * chunk
  std::int64_t message = 0;        ///< largest message
  std::int64_t window = 0;         ///< in flight each way
  std::int64_t private_bytes = 0;  ///< 2 * window: what is sent, then what is received
  std::int64_t piece = 0;          ///< of what is accumulated in place, so that it stays in cache; 0: whole
};

/// Throws ArgumentError where `options.staging_bytes` is too small for one cache line a slot.
Staging choose_staging(const Problem& problem, const Method& method);

}  // namespace partita::redistribution
