// How several contributions to one element are joined.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/export.hpp>
#include <string_view>

namespace partita {

/// The operations, with the meanings of MPI's and of C.
enum class Reduction : std::uint8_t {
  sum,
  min,
  max,
  product,
  logical_and,  ///< of "is not zero"; the result is 0 or 1, as of the next two
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
};

inline constexpr int reduction_count = 10;  ///< how many there are

PARTITA_API std::string_view name(Reduction reduction);        ///< "sum", "logical_and", ...
PARTITA_API Reduction parse_reduction(std::string_view text);  ///< throws ArgumentError listing the names

/// Whether the reduction is defined for the dtype: sum and product for all (of booleans they are "or" and
/// "and"), min and max for all but complex, the logical and the bit-wise ones for integers and booleans; of
/// f8e4m3 and f8e5m2 none.
PARTITA_API bool is_defined(Reduction reduction, Dtype dtype);

/// Writes the identity of the reduction (0 for sum, the largest value or +inf for min, ...) as one element of
/// the dtype to `element`. Throws ArgumentError where it is not defined.
PARTITA_API void write_identity(Reduction reduction, Dtype dtype, void* element);

}  // namespace partita
