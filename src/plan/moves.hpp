// Sizes and shapes of the copies in a plan.
#pragma once

#include <partita/plan.hpp>

namespace partita::planning {

const Buffer& buffer_of(const Plan& plan, const Place& place);
bool is_scratch(const Plan& plan, const Place& place);
/// The buffer whose memory the place refers to; for a view, that of another buffer.
int memory_of(const Plan& plan, const Place& place);
/// Whether the place is in private scratch.
bool is_private(const Plan& plan, const Place& place);

/// A copy out of ordinary memory of another rank: the kernel does it (memory::CrossMemory).
bool is_pull(const Plan& plan, const Step& step);

/// The other rank of a step; the plan's rank if there is none.
int other_rank(const Plan& plan, const Step& step);

/// Bytes of all scratch of the plan's rank.
std::int64_t scratch_bytes(const Plan& plan);

/// Bytes from the first to the last element of a region in scratch without an operand.
std::int64_t packed_bytes(const Place& place, const Region& region, std::int64_t item_bytes);

/// Bytes of one element of a step's region: of the operand that it touches, else of the plan's first operand.
std::int64_t item_bytes(const Plan& plan, const Step& step);
/// Payload of a copy, accumulate or fill, in bytes (read and write count once).
std::int64_t moved_bytes(const Plan& plan, const Step& step);

/// The size of a message for prices.
std::int64_t expected_bytes(const Step& step);
/// Where the size of a message is whose size depends on data.
const Place& size_place(const Step& step);

/// Bytes that are contiguous at both ends of a copy, which one memcpy can move: the average of all runs; one
/// element if the fastest dimensions of the two ends differ (a transposition).
double run_bytes(const Plan& plan, const Step& step);

}  // namespace partita::planning
