// When pieces are put into the memory of other ranks of the node.
#pragma once

#include <partita/machine.hpp>

namespace partita::multiplication {

/// So many pieces are together longer on their way than their starts take; shorter ones go in packets, or are
/// read where they lie.
inline bool worth_starts(const Machine& machine, double bytes, double pieces) {
  return pieces > 0 && bytes >= pieces * machine.copy_latency * machine.peer_bandwidth;
}

}  // namespace partita::multiplication
