// From a run-time dtype to a C++ type.
#pragma once

#include <complex>
#include <cstdint>
#include <partita/dtype.hpp>
#include <utility>

#include "base/check.hpp"
#include "base/half.hpp"

namespace partita {

/// Carries a type as a value: `using T = typename decltype(tag)::type;`.
template <class T>
struct TypeTag {
  using type = T;
};

/// Calls `body` with the TypeTag of the dtype's storage type (booleans are bytes, halves are their bits).
template <class Body>
decltype(auto) visit_dtype(Dtype dtype, Body&& body) {
  switch (dtype) {
    case Dtype::boolean:
      return body(TypeTag<bool>{});
    case Dtype::i8:
      return body(TypeTag<std::int8_t>{});
    case Dtype::u8:
      return body(TypeTag<std::uint8_t>{});
    case Dtype::i16:
      return body(TypeTag<std::int16_t>{});
    case Dtype::u16:
      return body(TypeTag<std::uint16_t>{});
    case Dtype::i32:
      return body(TypeTag<std::int32_t>{});
    case Dtype::u32:
      return body(TypeTag<std::uint32_t>{});
    case Dtype::i64:
      return body(TypeTag<std::int64_t>{});
    case Dtype::u64:
      return body(TypeTag<std::uint64_t>{});
    case Dtype::f16:
      return body(TypeTag<Float16>{});
    case Dtype::bf16:
      return body(TypeTag<BFloat16>{});
    case Dtype::f32:
      return body(TypeTag<float>{});
    case Dtype::f64:
      return body(TypeTag<double>{});
    case Dtype::c64:
      return body(TypeTag<std::complex<float>>{});
    case Dtype::c128:
      return body(TypeTag<std::complex<double>>{});
  }
  throw Error("unknown dtype");
}

}  // namespace partita
