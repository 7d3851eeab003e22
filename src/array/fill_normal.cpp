#include <cmath>
#include <numbers>

#include "array/fill_by_number.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"

namespace partita {
namespace {

/// Two independent numbers of the normal distribution from one of 64 bits.
std::complex<double> normal_pair(std::uint64_t bits) {
  const double u = (static_cast<double>(bits >> 11U) + 1) * 0x1p-53;      // in (0, 1]
  const double v = static_cast<double>(scramble(bits) >> 11U) * 0x1p-53;  // in [0, 1)
  return std::polar(std::sqrt(-2 * std::log(u)), 2 * std::numbers::pi * v);
}

template <class T>
T normal_value(std::uint64_t bits) {
  const std::complex<double> pair = normal_pair(bits);
  if constexpr (is_small_float_type<T>) {
    return from_float<T>(static_cast<float>(pair.real()));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(pair.real());
  } else {
    return static_cast<T>(pair);
  }
}

}  // namespace

void fill_normal(Array& array, std::uint64_t seed) {
  fill_normal(array, seed, {});
}

void fill_normal(Array& array, std::uint64_t seed, Stream stream) {
  const Dtype dtype = array.dtype();
  check(dtype != Dtype::boolean && !is_integer(dtype), "fill_normal: {} has no normal numbers", name(dtype));
  const auto make = [&](std::int64_t number, auto& element) {
    using T = std::remove_reference_t<decltype(element)>;
    if constexpr (!std::is_integral_v<T>) {
      element = normal_value<T>(mix(scramble(seed), static_cast<std::uint64_t>(number)));
    }
  };
  arrays::fill_by_number(array, make, stream);
}

}  // namespace partita
