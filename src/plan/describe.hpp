// Words for the parts of a plan, shared by explain and verify.
#pragma once

#include <partita/plan.hpp>
#include <string>
#include <string_view>

namespace partita::planning {

std::string_view name(StepKind kind);
std::string_view name(BufferKind kind);

/// "source of rank 3", "staging[4096] of rank 0".
std::string describe(const Plan& plan, const Place& place);
/// "copy {[0,4) x [0,2)} from source of rank 1 to destination of rank 0".
std::string describe(const Plan& plan, const Step& step);

/// "512 B", "1.5 MiB".
std::string describe_bytes(std::int64_t bytes);

}  // namespace partita::planning
