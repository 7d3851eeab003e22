#include "runtime/checks/rank_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace partita::runtime {

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

std::string values_of_ranks(std::span<const std::string> values, std::span<const int> ranks) {
  constexpr std::size_t most_groups = 8;
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto group = std::ranges::find(groups, values[i], [](const auto& other) { return other.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {values[i], {}});
    group->second.push_back(ranks[i]);
  }
  std::string result;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == most_groups) return result + fmt::format("; and {} other values", groups.size() - i);
    std::string text = groups[i].first;
    if (text.size() > longest_value) text = text.substr(0, longest_value) + "...";
    result += fmt::format("{}{} on {}", i == 0 ? "" : "; ", text, rank_list(groups[i].second));
  }
  return result;
}

CaughtError refusal_of_rank(int rank, const CaughtError& refusal) {
  return {refusal.kind, fmt::format("{}: {}", rank_list({rank}), refusal.text)};
}

std::string cut_to(std::string text, std::size_t longest) {
  if (text.size() > longest) text.replace(longest - 3, std::string::npos, "...");
  return text;
}

}  // namespace partita::runtime
