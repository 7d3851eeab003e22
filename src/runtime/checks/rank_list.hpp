// Lists of ranks in error texts, and what else these consist of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/checks/error_kind.hpp"

namespace partita::runtime {

/// "rank 3", "ranks 0,1,3", "ranks 0-2,5". `ranks` in increasing order; none: "no rank".
std::string rank_list(const std::vector<int>& ranks);

/// "8x8 on ranks 0,1,3; 8x9 on rank 2", the value of the first rank first; of many different ones the first
/// few.
std::string values_of_ranks(std::span<const std::string> values, std::span<const int> ranks);

/// What has kept a rank from a call, as all ranks throw it: "rank 1: ...".
CaughtError refusal_of_rank(int rank, const CaughtError& refusal);

/// Characters of a value in an error, or in what ranks tell each other about one.
inline constexpr std::size_t longest_value = 300;

/// At most `longest` characters; what is cut ends with "...".
std::string cut_to(std::string text, std::size_t longest);

}  // namespace partita::runtime
