// Options of an operation, listed once: for texts that ranks compare, and for keys of plans.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <partita/distribution.hpp>
#include <partita/fact.hpp>
#include <partita/names.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace partita {

/// Writes "method direct axes 1,0 staging 0". An operation calls it, or a key, with each of its options:
/// `visit(name, value)`.
class OptionText {
 public:
  template <class Value>
  void operator()(std::string_view option, const Value& value) {
    fmt::format_to(std::back_inserter(text_), "{}{} {}", text_.empty() ? "" : " ", option, text_of(value));
  }
  const std::string& text() const { return text_; }

 private:
  template <class Value>
  static std::string text_of(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      return std::string(name(value));
    } else {
      return fmt::format("{}", value);
    }
  }
  template <class Value>
  static std::string text_of(const std::optional<Value>& value) {
    return value ? text_of(*value) : "unset";
  }
  static std::string text_of(const std::vector<int>& values) {
    return fmt::format("({})", fmt::join(values, ","));
  }
  static std::string text_of(const Distribution& distribution) { return distribution.to_string(); }

  std::string text_;
};

/// "source: 8x8 slab:0 over 4 ranks, f64, ...; destination: ..."
inline std::string text_of(std::span<const Fact> facts) {
  std::string text;
  for (const Fact& fact : facts) text.append(text.empty() ? "" : "; ").append(fact.name + ": " + fact.value);
  return text;
}

}  // namespace partita
