// Unsigned integers in the order of elements.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/half.hpp"

namespace partita::kernels {

template <std::size_t bytes>
using BitsOf =
    std::conditional_t<bytes == 1, std::uint8_t,
                       std::conditional_t<bytes == 2, std::uint16_t,
                                          std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// The bits of infinity; 0: the type has none.
template <class T>
constexpr BitsOf<sizeof(T)> infinity_bits() {
  if constexpr (std::is_same_v<T, Float16>) return 0x7C00;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x7F80;
  if constexpr (std::is_same_v<T, float>) return 0x7F800000;
  if constexpr (std::is_same_v<T, double>) return 0x7FF0000000000000;
  return 0;
}

/// Keys of elements of a real type by their bits: in their order, with -0 before 0, and one key, the largest,
/// for all NaNs.
template <class T>
struct SortKeys {
  using Bits = BitsOf<sizeof(T)>;
  static constexpr Bits all = std::numeric_limits<Bits>::max();
  static constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  static constexpr Bits infinity = infinity_bits<T>();

  static constexpr Bits key(Bits bits) {
    if constexpr (infinity != 0) {
      const bool is_nan = static_cast<Bits>(bits & ~sign) > infinity;
      const Bits inverted = static_cast<Bits>(bits ^ ((bits & sign) != 0 ? all : sign));
      return is_nan ? all : inverted;
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<Bits>(bits ^ sign);
    } else {
      return bits;
    }
  }
  /// The same key for 0 and -0.
  static constexpr Bits key_of_number(Bits bits) {
    return key(infinity != 0 && bits == sign ? Bits{0} : bits);
  }
  /// The bits of the element with this key. NaNs are positive; keys of none, those below -infinity, give NaN,
  /// too.
  static constexpr Bits bits(Bits key) {
    if constexpr (infinity != 0) return static_cast<Bits>((key & sign) != 0 ? key ^ sign : ~key);
    if constexpr (std::is_signed_v<T>) return static_cast<Bits>(key ^ sign);
    return key;
  }
};

}  // namespace partita::kernels
