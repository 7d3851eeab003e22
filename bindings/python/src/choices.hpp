// Words and numbers that several bindings take.
#pragma once

#include <nanobind/nanobind.h>

#include <complex>
#include <optional>
#include <partita/array.hpp>
#include <partita/extents.hpp>
#include <partita/float8.hpp>
#include <partita/operand.hpp>
#include <partita/scalar.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "binding.hpp"

namespace partita::python {

/// NumPy's words.
inline constexpr std::pair<std::string_view, Order> orders[] = {{"C", Order::row_major},
                                                                {"F", Order::column_major}};

inline Residency residency_of(bool heap) {
  return heap ? Residency::heap : Residency::ordinary;
}

/// "host", "device", or nothing is said.
inline std::optional<MemorySpace> space_of(const std::optional<std::string>& space) {
  if (!space) return std::nullopt;
  return parse<MemorySpace>(*space);
}

/// The memory layout of a new array, in Python's words.
using Words = std::optional<std::string>;
inline ArrayOptions lying(const std::string& order, bool heap, const Words& space) {
  return {.residency = residency_of(heap), .order = named("order", order, orders), .space = space_of(space)};
}

/// Of bool, int, float, complex and NumPy's numbers. TypeError: of nothing else.
Scalar scalar_of(const nb::handle& number);
/// The same for elements of a dtype: 0 and 1 are bools, too.
Scalar scalar_for(Dtype dtype, const nb::handle& number);
/// A bool, int, float or complex.
nb::object python_number(const Scalar& number);

/// body(T()) for the C++ type of the dtype.
template <class Body>
auto for_dtype(Dtype dtype, const Body& body) {
  switch (dtype) {
    case Dtype::boolean:
      return body(bool());
    case Dtype::i8:
      return body(std::int8_t());
    case Dtype::u8:
      return body(std::uint8_t());
    case Dtype::i16:
      return body(std::int16_t());
    case Dtype::u16:
      return body(std::uint16_t());
    case Dtype::i32:
      return body(std::int32_t());
    case Dtype::u32:
      return body(std::uint32_t());
    case Dtype::i64:
      return body(std::int64_t());
    case Dtype::u64:
      return body(std::uint64_t());
    case Dtype::f16:
      return body(Float16());
    case Dtype::bf16:
      return body(BFloat16());
    case Dtype::f32:
      return body(float());
    case Dtype::f64:
      return body(double());
    case Dtype::c64:
      return body(std::complex<float>());
    case Dtype::f8e4m3:
      return body(Float8E4M3());
    case Dtype::f8e5m2:
      return body(Float8E5M2());
    case Dtype::c128:
      break;
  }
  return body(std::complex<double>());
}

}  // namespace partita::python
