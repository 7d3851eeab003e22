// Lanes: steps of a plan that a device executes concurrently.
#pragma once

#include <partita/plan.hpp>
#include <vector>

namespace partita::planning {

/// Steps that write to peers' memory, by copies or by works, run concurrently with computation, as does the
/// rank's own share of that data; if transforms store it, or short copies put it, their signals run
/// concurrently with the following ones. Panels are factorized before they leave, in the same lane: that is a
/// sequence of small kernels, so concurrent works use most of the device. Without works, slots that peers
/// read are filled concurrently with what this rank reads of theirs and with what it keeps, if the plan fills
/// some of them again; all other steps are in one lane.
enum Lane : int { in_order, pushing, keeping, signalling, lane_count };

/// By step, of a plan without messages: its lane. To `pushing` belong what writes a peer's memory, the wait
/// for that peer's grant, and factorizations of panels if the plan has other works, to it or to `signalling`
/// the signal that it has been written; to `keeping` copies inside this rank's memory between buffers between
/// which it copies to peers, too. Of a plan without works, `pushing` has what fills slots, with the waits
/// before and the signals behind, and `keeping` the copies from array to array.
std::vector<int> lanes_of(const Plan& plan);

}  // namespace partita::planning
