// Arrays as text.
#pragma once

#include <iosfwd>
#include <partita/array.hpp>
#include <string>

namespace partita {

/// How much of an array is written.
struct PrintOptions {
  std::int64_t threshold = 1000;  ///< elements; of a larger array only the edges
  std::int64_t edge = 3;          ///< elements at each end of each dimension, at least 1
  int precision = 8;              ///< digits behind the point of floating numbers, 0 to 17
};

/// The values in brackets, as NumPy's `array2string` writes them: floating numbers with as many digits as
/// tell them apart in their dtype, `precision` at most, all in one form, with exponents where magnitudes are
/// far apart; lines of at most 75 characters; in place of what is left out, an ellipsis. bfloat16 and numbers
/// of 8 bits are written likewise. The same text on
/// every rank. Only what is written is gathered. Collective, blocking. Errors, the same on every rank:
/// ArgumentError (a partial array has no values yet: redistribute it first; options out of range),
/// DisagreementError.
PARTITA_API std::string to_string(const Array& array, const PrintOptions& options = {});

/// Writes that, on every rank: collective, so that all ranks must come here, with a stream of their own.
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Array& array);

}  // namespace partita
