// Wrong arguments of bound functions, in words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace partita::python {

/// What nanobind says where no signature fits, in one line that names the argument, what it is to be, and
/// what was given: "full(): shape: expected tuple[int, ...], got str". Nothing: of a text that is none of
/// those.
std::optional<std::string> in_words(std::string_view text);

}  // namespace partita::python
