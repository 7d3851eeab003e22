// Reductions: operations that combine contributions to one element.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/export.hpp>
#include <string_view>

namespace partita {

/// The operations, with the semantics of MPI and C.
enum class Reduction : std::uint8_t {
  sum,
  min,
  max,
  product,
  logical_and,  ///< logical operations treat nonzero as true; the result is 0 or 1
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
};

inline constexpr int reduction_count = 10;  ///< number of reductions

PARTITA_API std::string_view name(Reduction reduction);        ///< "sum", "logical_and", ...
PARTITA_API Reduction parse_reduction(std::string_view text);  ///< throws ArgumentError listing the names

/// Whether the reduction is defined for the dtype: sum and product for all dtypes except FP8 (for booleans
/// "or" and "and"), min and max for all except complex and FP8, logical and bit-wise ones for integers and
/// booleans.
PARTITA_API bool is_defined(Reduction reduction, Dtype dtype);

/// Writes the identity of the reduction (0 for sum, the largest value or +inf for min, ...) to `element`, one
/// element of the dtype. Throws ArgumentError if the reduction is not defined.
PARTITA_API void write_identity(Reduction reduction, Dtype dtype, void* element);

}  // namespace partita
