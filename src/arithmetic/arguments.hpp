// What operations on arrays ask of their arguments.
#pragma once

#include <partita/array.hpp>
#include <partita/stream.hpp>
#include <string_view>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"

namespace partita::arithmetic {

/// An array that has values. Throws ArgumentError.
inline void check_values(std::string_view operation, const Array& array) {
  check(array.valid(), "{}: an operand is an empty Array", operation);
  arrays::check_has_values(operation, array);
}

/// Both on one context and in one memory space.
inline void check_together(std::string_view operation, const Array& a, const Array& b) {
  arrays::check_same_context(operation, b, "one array", a, "another one");
  check<UnsupportedError>(a.local().space == b.local().space,
                          "{}: one array is in host memory and another in device memory; copy one of them",
                          operation);
}

/// Both on one context, in one memory space and of one dtype.
inline void check_alike(std::string_view operation, const Array& a, const Array& b) {
  check_together(operation, a, b);
  check(a.dtype() == b.dtype(), "{}: the dtypes differ: {} and {}; convert one of them with astype",
        operation, name(a.dtype()), name(b.dtype()));
}

inline void check_stream(std::string_view operation, const Array& array,
                         const std::optional<Stream>& stream) {
  arrays::require_stream_of_device(operation, array.local().space == MemorySpace::device, stream);
}

}  // namespace partita::arithmetic
