// Whether a value is among others.
#pragma once

#include <algorithm>

namespace partita {

template <class Values, class Value>
constexpr bool contains(const Values& values, const Value& value) {
  return std::ranges::find(values, value) != std::ranges::end(values);
}

}  // namespace partita
