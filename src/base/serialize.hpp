// Values as bytes, as ranks send them to one another.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/check.hpp"

namespace partita {

/// Structs that are not plain values declare their members in their namespace: `auto members_of(is_a<Card>
/// auto& card) { return std::tie(card.host, card.address); }`.
template <class Self, class Value>
concept is_a = std::same_as<std::remove_const_t<Self>, Value>;

/// Plain values are written as their bytes in memory, structs member by member, and texts and vectors after
/// their length.
template <class Value>
void append_serialized(std::string& bytes, const Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  } else if constexpr (requires { members_of(value); }) {
    std::apply([&](const auto&... members) { (append_serialized(bytes, members), ...); }, members_of(value));
  } else {
    append_serialized(bytes, std::uint64_t{value.size()});
    for (const auto& element : value) append_serialized(bytes, element);
  }
}

/// Takes the value from the front of `bytes`. Throws Error (a defect of ours) where it is not whole.
template <class Value>
void take_serialized(std::string_view& bytes, Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>) {
    invariant(bytes.size() >= sizeof(value), "{} bytes are not a whole value", bytes.size());
    std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof(value));
    bytes.remove_prefix(sizeof(value));
  } else if constexpr (requires { members_of(value); }) {
    std::apply([&](auto&... members) { (take_serialized(bytes, members), ...); }, members_of(value));
  } else {
    std::uint64_t size = 0;
    take_serialized(bytes, size);
    value.clear();
    for (; size > 0; --size) {
      typename Value::value_type element{};
      take_serialized(bytes, element);
      value.push_back(std::move(element));
    }
  }
}

template <class Value>
std::string serialize(const Value& value) {
  std::string bytes;
  append_serialized(bytes, value);
  return bytes;
}

template <class Value>
Value deserialize(std::string_view bytes) {
  Value value{};
  take_serialized(bytes, value);
  return value;
}

}  // namespace partita
