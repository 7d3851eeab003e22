// When pieces are put into the memory of other ranks of the node.
#pragma once

#include <partita/machine.hpp>

namespace partita::multiplication {

/// The transfer of so many pieces takes longer than their launches; shorter ones are sent in packets, or are
/// read in place.
inline bool worth_starts(const Machine& machine, double bytes, double pieces) {
  return pieces > 0 && bytes >= pieces * machine.copy_latency * machine.peer_bandwidth;
}

}  // namespace partita::multiplication
