// How several contributions to one element are joined.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/export.hpp>
#include <string_view>

namespace partita {

enum class Reduction : std::uint8_t { sum, min, max };

PARTITA_API std::string_view name(Reduction reduction);        ///< "sum", "min", "max"
PARTITA_API Reduction parse_reduction(std::string_view text);  ///< throws ArgumentError listing the names

/// Whether the reduction is defined for the dtype: min and max are not for complex; sum of booleans is "or".
PARTITA_API bool is_defined(Reduction reduction, Dtype dtype);

/// Writes the identity of the reduction (0 for sum, the largest value or +inf for min, ...) as one element of
/// the dtype to `element`. Throws ArgumentError where it is not defined.
PARTITA_API void write_identity(Reduction reduction, Dtype dtype, void* element);

}  // namespace partita
