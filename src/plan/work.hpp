// Compute steps as the plan's readers see them: text and cost.
#pragma once

#include <partita/machine.hpp>
#include <partita/plan.hpp>
#include <string>

namespace partita {

/// The work of a compute step; throws ArgumentError where the plan has none of that number.
const Work& work_of(const Plan& plan, const Step& step);

/// "multiply [0,4)x[0,8) of a of rank 1 by ... into d of rank 0".
std::string describe_work(const Plan& plan, const Step& step);

/// The dtype of what lies at a place: of the array there, else of the scratch, else of the plan's first
/// operand.
Dtype dtype_at(const Plan& plan, const Place& place);

/// Seconds of a compute step on one rank of the machine.
double compute_seconds(const Plan& plan, const Step& step, const Machine& machine);

}  // namespace partita
