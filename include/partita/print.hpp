// Arrays as text.
#pragma once

#include <iosfwd>
#include <partita/array.hpp>
#include <string>

namespace partita {

/// Options of the text form of arrays.
struct PrintOptions {
  std::int64_t threshold = 1000;  ///< larger arrays, in elements, are abbreviated
  std::int64_t edge = 3;          ///< elements at each end of abbreviated dimensions, at least 1
  int precision = 8;              ///< maximum number of decimals, 0 to 17
};

/// The values in brackets, as NumPy's `array2string`: floating-point numbers with the fewest digits that
/// identify them in their dtype, at most `precision` decimals, in one form, with exponents if magnitudes
/// differ much; lines of at most 75 characters; an ellipsis for omitted elements. The same text on every
/// rank. Only the elements that are written are gathered. Collective, blocking. Errors, the same on every
/// rank: ArgumentError (a partial array: redistribute it first; options out of range), DisagreementError.
PARTITA_API std::string to_string(const Array& array, const PrintOptions& options = {});

/// Writes `to_string` to the stream of each rank. Collective: all ranks must call it.
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Array& array);

/// Rank 0 writes `to_string` and a line break to standard output. Collective.
PARTITA_API void print(const Array& array, const PrintOptions& options = {});

}  // namespace partita
