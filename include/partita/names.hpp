// Names of option values, as used by error messages, `explain`, the command and Python.
#pragma once

#include <cstddef>
#include <iterator>
#include <partita/export.hpp>
#include <span>
#include <string_view>
#include <type_traits>

namespace partita {

/// The names of an enumeration: `words`, one per value in their order, and `what`, the description in
/// messages. Specialised next to each enumeration that is an option of a call or context.
template <class Option>
struct OptionWords;

/// An enumeration with names.
template <class Option>
concept HasWords = std::is_enum_v<Option> && requires {
  OptionWords<Option>::words;
};

/// All names of an enumeration, in the order of its values.
template <HasWords Option>
constexpr std::span<const std::string_view> words_of() {
  return OptionWords<Option>::words;
}

/// The name of a value: "all-gather" for MatmulMethod::all_gather; "unknown" for a number without a name.
template <HasWords Option>
constexpr std::string_view name(Option option) {
  const auto number = static_cast<std::size_t>(option);
  return number < words_of<Option>().size() ? words_of<Option>()[number] : std::string_view("unknown");
}

namespace detail {
/// Position in the list, or -1.
PARTITA_API int find_word(std::string_view text, std::span<const std::string_view> words);
[[noreturn]] PARTITA_API void refuse_word(std::string_view text, std::string_view what,
                                          std::span<const std::string_view> words);
}  // namespace detail

/// The value with this name; '-' and '_' are equivalent: "all-gather", "all_gather". Pure. Throws
/// ArgumentError that lists the names; `what`: the description of the option in it.
template <HasWords Option>
Option parse(std::string_view text, std::string_view what = OptionWords<Option>::what) {
  const int place = detail::find_word(text, words_of<Option>());
  if (place < 0) detail::refuse_word(text, what, words_of<Option>());
  return static_cast<Option>(place);
}

}  // namespace partita
