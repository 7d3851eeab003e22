// Which steps of a plan a device carries out beside the others.
#pragma once

#include <partita/plan.hpp>
#include <vector>

namespace partita::planning {

/// What is put into peers' memory, by copies or by works, goes beside what is computed, and so does the share
/// of it that this rank keeps; and where it is stored by transforms or put in short copies, the signals of
/// these go beside the next ones. Without works all steps go in one lane.
enum Lane : int { in_order, pushing, keeping, signalling, lane_count };

/// By step, of a plan without messages: its lane. To `pushing` belong what writes a peer's memory and the
/// wait for that peer's grant, and to it or to `signalling` the signal that it has been written; to `keeping`
/// copies inside this rank's memory between buffers between which it copies to peers, too.
std::vector<int> lanes_of(const Plan& plan);

}  // namespace partita::planning
