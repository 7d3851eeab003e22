// What all ranks say, where each says a value of fixed size.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/agree.hpp"

namespace partita {

/// By rank. Collective, blocking; as `exchange`.
template <class Value>
std::vector<Value> exchange_values(Runtime& state, std::string_view operation, const Value& mine) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const std::string_view bytes(reinterpret_cast<const char*>(&mine), sizeof(mine));
  std::vector<Value> all;
  for (const std::string& text : exchange(state, operation, bytes)) {
    std::memcpy(&all.emplace_back(), text.data(), std::min(text.size(), sizeof(Value)));
  }
  return all;
}

/// The same on every rank. Collective, blocking; as `exchange`.
template <class Value>
Value largest_of_ranks(Runtime& state, std::string_view operation, const Value& mine) {
  return std::ranges::max(exchange_values(state, operation, mine));
}

}  // namespace partita
