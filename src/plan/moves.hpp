// Sizes and shapes of the copies in a plan.
#pragma once

#include <partita/plan.hpp>
#include <vector>

namespace partita::planning {

const Buffer& buffer_of(const Plan& plan, const Place& place);
bool is_scratch(const Plan& plan, const Place& place);
/// The buffer whose memory the place lies in: a view's is another one's.
int memory_of(const Plan& plan, const Place& place);
/// The place lies in scratch of one rank alone.
bool is_private(const Plan& plan, const Place& place);

/// A copy out of ordinary memory of another rank: the kernel does it (memory::CrossMemory).
bool is_pull(const Plan& plan, const Step& step);

/// Whom a step concerns beside the plan's rank; the plan's rank: nobody.
int other_rank(const Plan& plan, const Step& step);

/// Bytes of all scratch of the plan's rank.
std::int64_t scratch_bytes(const Plan& plan);

/// Bytes of one element of a step's region: of the operand that it touches, else of the plan's first operand.
std::int64_t item_bytes(const Plan& plan, const Step& step);
/// Payload of a copy, accumulate or fill, in bytes (read and write count once).
std::int64_t moved_bytes(const Plan& plan, const Step& step);

/// Bytes that lie next to each other at both ends of a copy: what one memcpy can move. On average, where runs
/// differ; one element where the fastest dimensions of the two ends differ (a transposition).
double run_bytes(const Plan& plan, const Step& step);

/// At most `most` ranks of 0 .. ranks-1, evenly spaced, the first and the last among them.
std::vector<int> sample_ranks(int ranks, int most);
/// The same of plans as long as this one: so few that looking at them takes seconds, not minutes.
std::vector<int> sample_ranks(const Plan& plan, int most);

}  // namespace partita::planning
