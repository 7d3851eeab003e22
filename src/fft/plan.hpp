// Plans of transforms, with what only the ranks of a context know.
#pragma once

#include <partita/fft.hpp>
#include <vector>

#include "plan/small_exchange.hpp"

namespace partita::fourier {

/// A plan, and which of its changes of hands devices may carry in packets: the small ones.
struct TransformPlan {
  Plan plan;
  std::vector<planning::PacketSteps> packets;
};

/// `plan_fft`. `grouped`: something carries messages between the devices of nodes in groups (Plan::grouped);
/// where `scratch_bytes` is too little for groups they go as always. Pure.
TransformPlan plan_transform(const Operand& input, const Operand& output, const Topology& topology, int rank,
                             const FftOptions& options, const Machine& machine, bool in_place, bool grouped);

}  // namespace partita::fourier
