// What a kept plan is found by.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <partita/operand.hpp>
#include <string_view>
#include <type_traits>

#include "base/hash.hpp"

namespace partita::contexts {

/// An operation and everything that its plan depends on, hashed to 128 bits: the same on all ranks if these
/// are. Two keys of different content are equal with a probability of 2^-128; layouts count by their 64-bit
/// hash. A value.
class PlanKey {
 public:
  explicit PlanKey(std::string_view operation) { (void)add(operation); }

  PlanKey& add(std::string_view text) { return add_word(text.size()).add_word(hash_of(text)); }
  PlanKey& add(const std::string& text) { return add(std::string_view(text)); }
  PlanKey& add(const char* text) { return add(std::string_view(text)); }
  template <class Number>
  requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) PlanKey& add(Number number) {
    if constexpr (std::is_floating_point_v<Number>) {
      return add_word(std::bit_cast<std::uint64_t>(static_cast<double>(number)));
    } else {
      return add_word(static_cast<std::uint64_t>(number));
    }
  }
  PlanKey& add(const Distribution& distribution) { return add(distribution.to_string()); }
  PlanKey& add(const Layout& layout) { return add_word(layout.hash()); }
  PlanKey& add(const Operand& operand);
  PlanKey& add(const PlanKey& part) { return add_word(part.low_).add_word(part.high_); }
  template <class Value>
  PlanKey& add(const std::optional<Value>& value) {
    (void)add(value.has_value());
    return value ? add(*value) : *this;
  }
  /// Of numbers: a vector, Extents, a span.
  template <class Range>
  requires requires(const Range& range) {
    requires std::is_arithmetic_v<std::remove_cvref_t<decltype(*range.begin())>>;
    range.size();
  } &&(!std::convertible_to<Range, std::string_view>)PlanKey& add(const Range& numbers) {
    (void)add(numbers.size());
    for (const auto number : numbers) (void)add(number);
    return *this;
  }
  /// Several parts, one after the other.
  template <class First, class Second, class... Others>
  PlanKey& add(const First& first, const Second& second, const Others&... others) {
    (void)add(first);
    return add(second, others...);
  }

  /// An option, as `for_each_option` of an operation visits it; its name does not count.
  template <class Value>
  void operator()(std::string_view /*option*/, const Value& value) {
    (void)add(value);
  }

  std::uint64_t hash() const { return low_; }
  friend bool operator==(const PlanKey&, const PlanKey&) = default;

 private:
  PlanKey& add_word(std::uint64_t word) {
    low_ = mix(low_, word);
    high_ = scramble((high_ ^ word) + 0xd1342543de82ef95U);
    return *this;
  }

  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
};

}  // namespace partita::contexts
