// Lists of ranks in error texts.
#pragma once

#include <string>
#include <vector>

namespace partita {

/// "rank 3", "ranks 0,1,3", "ranks 0-2,5". `ranks` in increasing order; none: "no rank".
std::string rank_list(const std::vector<int>& ranks);

}  // namespace partita
