// Pseudo-random numbers that follow from their places: the same bits on hosts and devices, since they are
// made by operations that IEEE 754 rounds alike everywhere (compiled without contraction, see
// CMakeLists.txt).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/half.hpp"
#include "base/hash.hpp"

namespace partita {

/// Two of the same kind: the parts of a complex number.
template <class T>
struct NumberPair {
  T first, second;
};

/// lowest + x (next + x (...)).
template <class... Higher>
constexpr double polynomial(double x, double lowest, Higher... higher) {
  if constexpr (sizeof...(higher) == 0) {
    return lowest;
  } else {
    return lowest + x * polynomial(x, higher...);
  }
}

/// ln x for positive normal numbers, to two units in the last place: of x = 2^e m, m in [sqrt(1/2), sqrt(2)),
/// it is e ln 2 + 2 artanh((m - 1) / (m + 1)), whose series ends where the next term is lost in rounding.
constexpr double natural_logarithm(double x) {
  constexpr std::uint64_t one = std::uint64_t{1023} << 52U;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52U) - 1023;
  auto mantissa = std::bit_cast<double>((bits & 0xfffffffffffffU) | one);
  if (mantissa >= 0x1.6a09e667f3bcdp+0) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double series = polynomial(s * s, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13,
                                   1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21);
  return exponent * 0x1.62e42fefa39efp-1 + 2 * s * series;
}

/// Cosine and sine of 2 pi `turn`, 0 <= turn < 1, to 2^-52: Taylor's series within an eighth of a turn.
constexpr NumberPair<double> cosine_and_sine(double turn) {
  const int quadrant = (static_cast<int>(8 * turn) + 1) / 2;
  const double x = (4 * turn - quadrant) * 0x1.921fb54442d18p+0;
  const double square = x * x;
  const double cosine = polynomial(square, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800,
                                   1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000);
  const double sine = x * polynomial(square, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880,
                                     -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000);
  const bool swaps = quadrant % 2 != 0, left = quadrant == 1 || quadrant == 2,
             below = quadrant == 2 || quadrant == 3;
  const double along = swaps ? sine : cosine, across = swaps ? cosine : sine;
  return {left ? -along : along, below ? -across : across};
}

/// Two independent numbers of the normal distribution from one of 64 bits (Box and Muller 1958).
constexpr NumberPair<double> normal_numbers(std::uint64_t bits) {
  const double u = (static_cast<double>(bits >> 11U) + 1) * 0x1p-53;  // in (0, 1]
  const NumberPair<double> direction = cosine_and_sine(static_cast<double>(scramble(bits) >> 11U) * 0x1p-53);
  const double radius = std::sqrt(-2 * natural_logarithm(u));
  return {radius * direction.first, radius * direction.second};
}

/// As elements of type T, which is not complex.
template <class T>
constexpr T nearest_element(double value) {
  if constexpr (is_small_float_type<T>) {
    return from_float<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// The largest number of the floating type T below 1: the bits before those of 1.
template <class T>
constexpr T below_one() {
  if constexpr (is_small_float_type<T>) {
    return T::from_bits(static_cast<decltype(T::bits)>(T(1.0F).bits - 1));
  } else if constexpr (std::is_same_v<T, float>) {
    return 0x1.fffffep-1F;
  } else {
    return 0x1.fffffffffffffp-1;
  }
}

/// Floating: uniform in [-1, 1), from the upper 53 bits, rounded to the nearest number of T below 1;
/// integers: in [-100, 100], unsigned ones [0, 200]; bool: either.
template <class T>
constexpr T uniform_element(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return (bits >> 63U) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    const int number = static_cast<int>((bits >> 32U) % 201U);
    return static_cast<T>(std::is_signed_v<T> ? number - 100 : number);
  } else {
    const T value = nearest_element<T>(static_cast<double>(bits >> 11U) * 0x1p-52 - 1.0);
    return value < T(1.0F) ? value : below_one<T>();  // rounding could reach 1
  }
}

template <class T>
constexpr T normal_element(std::uint64_t bits) {
  return nearest_element<T>(normal_numbers(bits).first);
}

/// Both parts of a complex element.
template <class Real>
constexpr NumberPair<Real> uniform_parts(std::uint64_t bits) {
  return {uniform_element<Real>(bits), uniform_element<Real>(scramble(bits))};
}

template <class Real>
constexpr NumberPair<Real> normal_parts(std::uint64_t bits) {
  const NumberPair<double> numbers = normal_numbers(bits);
  return {static_cast<Real>(numbers.first), static_cast<Real>(numbers.second)};
}

}  // namespace partita
