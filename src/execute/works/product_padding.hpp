// Which products of halves are made somewhat larger, so that tensor cores take them at their speed.
#pragma once

#include <cstdint>

#include "base/round.hpp"
#include "device/device_math.hpp"
#include "execute/works/product_shape.hpp"

namespace partita::execution {

/// Dimensions of a product that are made multiples of the unit: those along which lines of an operand run.
/// What is beyond m and n is not looked at, and beyond k there are zeros.
struct ProductPadding {
  /// What tensor cores take of halves at once, so that lines which begin at multiples of it are aligned.
  static constexpr std::int64_t unit =
      devices::matrix_alignment / static_cast<std::int64_t>(sizeof(std::uint16_t));

  bool m = false, n = false, k = false;

  static std::int64_t of(std::int64_t size, bool padded) { return padded ? round_up(size, unit) : size; }
};

/// None if the product is not a single call on matrices.
ProductPadding padding_of(const ProductShape& shape);

/// Whether some line of operand a, b or to (0, 1, 2) begins elsewhere than at a multiple of the alignment
/// behind its array's first byte. `place`: the offset of its part, in bytes.
bool is_misaligned(const ProductRole& role, const ProductShape& shape, std::size_t operand,
                   const BoundPart& part, std::int64_t place);

/// Room for so many matrices, by rows or by columns, with lines a multiple of the unit apart.
std::int64_t padded_elements(std::int64_t matrices, std::int64_t rows, std::int64_t columns);

}  // namespace partita::execution
