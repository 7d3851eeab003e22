// The clock that all times of a process can be compared by.
#pragma once

#include <chrono>

namespace partita {

/// The host's steady clock, in seconds.
inline double host_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace partita
