#include "runtime/rank_list.hpp"

#include <fmt/format.h>

namespace partita {

std::string rank_list(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  std::string text = "ranks ";
  for (std::size_t first = 0, last = 0; first < ranks.size(); first = last + 1) {
    last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    // Two in a row are shorter as two.
    if (last == first + 1) last = first;
    if (first > 0) text += ',';
    text += last == first ? fmt::format("{}", ranks[first]) : fmt::format("{}-{}", ranks[first], ranks[last]);
  }
  return text;
}

}  // namespace partita
