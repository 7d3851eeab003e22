#include "kernels/host/fill.hpp"

#include "array/fill_by_number.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "device/device_synchronization.hpp"

namespace partita {
namespace {

/// Uniform in [-1, 1) from the upper 53 bits.
double unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1p-52 - 1.0;
}

template <class T>
T random_value(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return (bits >> 63U) != 0;
  } else if constexpr (is_small_float_type<T>) {
    return from_float<T>(static_cast<float>(unit(bits)));
  } else if constexpr (std::is_floating_point_v<T>) {
    // Rounding to T could reach 1: the top is pulled back under it.
    const T value = static_cast<T>(unit(bits));
    return value < T{1} ? value : T{0};
  } else if constexpr (std::is_integral_v<T>) {
    const auto number = static_cast<int>((bits >> 32U) % 201U);
    return static_cast<T>(std::is_signed_v<T> ? number - 100 : number);
  } else {
    using Real = typename T::value_type;
    return {random_value<Real>(bits), random_value<Real>(scramble(bits))};
  }
}

}  // namespace

void fill(Array& array, const void* value) {
  const View& local = array.local();
  check(value != nullptr, "fill: a null pointer is no element");
  if (local.space == MemorySpace::device) {
    arrays::fill_on_device(*array.context_state(), local, value, {});
    return devices::finish_device(*array.context_state(), "fill");
  }
  const kernels::StridedCopy nest = kernels::destination_of(arrays::nest_over(local, local));
  if (nest.item_bytes == 0) return;
  kernels::fill(nest, value, size_of(local.dtype), local.data, kernels::hint_for(arrays::bytes_of(local)));
}

void fill(Array& array, const void* value, Stream stream) {
  const bool on_device = array.local().space == MemorySpace::device;
  check(value != nullptr, "fill: a null pointer is no element");
  arrays::require_stream_of_device("fill", on_device, stream);
  if (!on_device) return fill(array, value);
  array.context_state()->require_usable_here("fill");
  arrays::fill_on_device(*array.context_state(), array.local(), value, stream);
}

void fill_random(Array& array, std::uint64_t seed) {
  fill_random(array, seed, {});
}

void fill_random(Array& array, std::uint64_t seed, Stream stream) {
  const auto make = [&](std::int64_t number, auto& element) {
    using T = std::remove_reference_t<decltype(element)>;
    element = random_value<T>(mix(scramble(seed), static_cast<std::uint64_t>(number)));
  };
  arrays::fill_by_number(array, make, stream);
}

}  // namespace partita
