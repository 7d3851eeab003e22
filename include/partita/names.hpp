// The words of options, as error messages, `explain`, the command and Python use them.
#pragma once

#include <cstddef>
#include <iterator>
#include <partita/export.hpp>
#include <span>
#include <string_view>
#include <type_traits>

namespace partita {

/// The words of an enumeration: `words`, one for each value in their order, and `what`, how messages call it.
/// Specialised where the enumeration is declared, for all that are options of calls and contexts.
template <class Option>
struct OptionWords;

/// An enumeration with words.
template <class Option>
concept HasWords = std::is_enum_v<Option> && requires {
  OptionWords<Option>::words;
};

/// All words of an enumeration, in the order of its values.
template <HasWords Option>
constexpr std::span<const std::string_view> words_of() {
  return OptionWords<Option>::words;
}

/// The word of a value: "all-gather" of MatmulMethod::all_gather. A number without a word is "unknown".
template <HasWords Option>
constexpr std::string_view name(Option option) {
  const auto number = static_cast<std::size_t>(option);
  return number < words_of<Option>().size() ? words_of<Option>()[number] : std::string_view("unknown");
}

namespace detail {
/// Its place in the list, or -1.
PARTITA_API int find_word(std::string_view text, std::span<const std::string_view> words);
[[noreturn]] PARTITA_API void refuse_word(std::string_view text, std::string_view what,
                                          std::span<const std::string_view> words);
}  // namespace detail

/// The value that a word names; '-' and '_' are the same: "all-gather", "all_gather". Pure. Throws
/// ArgumentError that lists the words; `what`: how it calls the option.
template <HasWords Option>
Option parse(std::string_view text, std::string_view what = OptionWords<Option>::what) {
  const int place = detail::find_word(text, words_of<Option>());
  if (place < 0) detail::refuse_word(text, what, words_of<Option>());
  return static_cast<Option>(place);
}

}  // namespace partita
