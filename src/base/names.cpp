#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <partita/error.hpp>
#include <partita/names.hpp>

namespace partita::detail {

int find_word(std::string_view text, std::span<const std::string_view> words) {
  const auto same = [](char a, char b) { return a == b || (a == '_' && b == '-') || (a == '-' && b == '_'); };
  const auto found = std::ranges::find_if(
      words, [&](std::string_view word) { return std::ranges::equal(text, word, same); });
  return found == words.end() ? -1 : static_cast<int>(found - words.begin());
}

void refuse_word(std::string_view text, std::string_view what, std::span<const std::string_view> words) {
  throw ArgumentError(fmt::format("{} \"{}\" is not known; known: {}", what, text, fmt::join(words, ", ")));
}

}  // namespace partita::detail
