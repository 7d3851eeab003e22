// Lists of ranks in error texts.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace partita::runtime {

/// "rank 3", "ranks 0,1,3", "ranks 0-2,5". `ranks` in increasing order; none: "no rank".
std::string rank_list(const std::vector<int>& ranks);

/// "8x8 on ranks 0,1,3; 8x9 on rank 2", the value of the first rank first; of many different ones the first
/// few.
std::string values_of_ranks(std::span<const std::string> values, std::span<const int> ranks);

}  // namespace partita::runtime
