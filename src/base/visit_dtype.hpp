// From a run-time dtype to a C++ type.
#pragma once

#include <complex>
#include <cstdint>
#include <partita/dtype.hpp>
#include <tuple>

#include "base/check.hpp"
#include "base/half.hpp"

namespace partita {

/// Carries a type as a value: `using T = typename decltype(tag)::type;`.
template <class T>
struct TypeTag {
  using type = T;
};

/// The storage types in the order of Dtype: booleans are bytes, halves are their bits.
using StorageTypes = std::tuple<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                std::uint32_t, std::int64_t, std::uint64_t, Float16, BFloat16, float, double,
                                std::complex<float>, std::complex<double>, Float8E4M3, Float8E5M2>;
static_assert(std::tuple_size_v<StorageTypes> == dtype_count);

/// Calls `body` with the TypeTag of the dtype's storage type.
template <std::size_t first = 0, class Body>
decltype(auto) visit_dtype(Dtype dtype, Body&& body) {
  if constexpr (first + 1 < dtype_count) {
    if (static_cast<std::size_t>(dtype) != first) return visit_dtype<first + 1>(dtype, body);
  }
  invariant(static_cast<std::size_t>(dtype) == first, "dtype number {}", static_cast<int>(dtype));
  return body(TypeTag<std::tuple_element_t<first, StorageTypes>>{});
}

}  // namespace partita
