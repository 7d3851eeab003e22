// What operations on arrays ask of their arguments.
#pragma once

#include <partita/array.hpp>
#include <partita/stream.hpp>
#include <string_view>

#include "array/array_state.hpp"
#include "base/check.hpp"

namespace partita::arithmetic {

/// An array that has values. Throws ArgumentError.
inline void check_values(std::string_view operation, const Array& array) {
  check(array.valid(), "{}: an array is missing", operation);
  check(!array.layout().partial(), "{}: the array {} is partial and has no values yet; redistribute it first",
        operation, array.layout().to_string());
}

/// Both on one context and of one dtype.
inline void check_alike(std::string_view operation, const Array& a, const Array& b) {
  check(a.context_state() == b.context_state(), "{}: the arrays belong to different contexts", operation);
  check(a.dtype() == b.dtype(), "{}: the dtypes differ: {} and {}; convert one of them with astype",
        operation, name(a.dtype()), name(b.dtype()));
  check<UnsupportedError>(a.local().space == b.local().space,
                          "{}: one array lies in host memory, another one in device memory; copy one of them",
                          operation);
}

inline void check_stream(std::string_view operation, const Array& array, Stream stream) {
  check<UnsupportedError>(!stream.given || array.local().space == MemorySpace::device,
                          "{}: host memory has no streams", operation);
}

}  // namespace partita::arithmetic
