// What the compute steps of a plan read.
#pragma once

#include <partita/plan.hpp>
#include <vector>

namespace partita {

/// The parts that a work reads.
std::vector<Part> parts_read(const Work& work);

/// The parts that the compute steps read in place in the memory of other ranks, each once however often it is
/// read.
std::vector<Part> parts_read_from_peers(const Plan& plan);

}  // namespace partita
