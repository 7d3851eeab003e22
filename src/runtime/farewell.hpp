// What a rank says when it takes part in a context no more.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/error_kind.hpp"

namespace partita {

struct Farewell {
  std::uint64_t context = 0;  ///< its identity: a name that was used before is no context of today
  int rank = -1;
  bool failed = false;   ///< its context has failed, with `why`; else it has left it, and `why.text` says how
  CaughtError why = {};  ///< of a text, what goes into `longest_farewell` bytes is told
};

inline constexpr int longest_farewell = 511;

}  // namespace partita
