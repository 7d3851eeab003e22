// Elements as values.
#pragma once

#include <cstdint>
#include <type_traits>

namespace partita {

/// The element at `place`. Booleans are bytes, and memory of others may hold any: all but 0 are true. Such a
/// byte is no `bool` of C++, and is not to be read as one.
template <class T>
T element_at(const T* place) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const std::uint8_t*>(place) != 0;
  } else {
    return *place;
  }
}

/// Each of those bytes becomes 0 or 1.
inline void normalize_booleans(void* bytes, std::int64_t count) {
  auto* const all = static_cast<std::uint8_t*>(bytes);
  for (std::int64_t i = 0; i < count; ++i) all[i] = all[i] != 0 ? 1 : 0;
}

}  // namespace partita
