// The layouts of new arrays that are made of a matrix or of right-hand sides.
#pragma once

#include <partita/array.hpp>
#include <partita/linalg.hpp>
#include <string_view>

#include "context/context_state.hpp"

namespace partita::linear {

/// Of an array of this shape made of a matrix: the matrix's distribution where it suits, otherwise Slab(0).
Layout layout_like(const Operand& matrix, const Shape& shape);
/// The order, residency and space of a matrix.
ArrayOptions options_like(const Operand& matrix);
/// The operand as that a new array with these has.
Operand operand_like(const Operand& matrix, const Shape& shape);

/// A new X of so many rows, for right-hand sides B: as the options say, otherwise as B. Throws
/// UnsupportedError if it is to be in device memory without a device.
Operand solution_operand(const ContextState& context, std::string_view operation, const Operand& b,
                         std::int64_t rows, const SolveOptions& options);

}  // namespace partita::linear
