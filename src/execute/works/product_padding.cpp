#include "execute/works/product_padding.hpp"

#include <algorithm>

namespace partita::execution {

ProductPadding padding_of(const ProductShape& shape) {
  if (shape.batches.size() != 1 || std::min({shape.m_size, shape.n_size, shape.k_size}) < 2) return {};
  for (const ProductAxis* const axis : {&shape.m, &shape.n, &shape.k}) {
    if (axis->chunks().size() != 1) return {};
  }
  const auto pads = [](std::int64_t size, const kernels::TileAxis& one, const kernels::TileAxis& other) {
    return size % ProductPadding::unit != 0 && (one.adjacent() || other.adjacent());
  };
  return {pads(shape.m_size, shape.role_a.row(0), shape.role_to.row(0)),
          pads(shape.n_size, shape.role_b.column(0), shape.role_to.column(0)),
          pads(shape.k_size, shape.role_a.column(0), shape.role_b.row(0))};
}

bool is_misaligned(const ProductRole& role, const ProductShape& shape, std::size_t operand,
                   const BoundPart& part, std::int64_t place) {
  std::int64_t bits = 0;
  for (const ProductShape::Batch& batch : shape.batches) bits |= batch[operand];
  for (std::size_t i = 0; i < role.rows->chunks().size(); ++i) {
    for (std::size_t j = 0; j < role.columns->chunks().size(); ++j) {
      const kernels::TileAxis &row = role.row(i), &column = role.column(j);
      const kernels::TileAxis& outer = row.adjacent() ? column : row;
      bits |= row.offset + column.offset;
      if (outer.count > 1) bits |= outer.step;
    }
  }
  return (place | bits * size_of(part.dtype())) % devices::matrix_alignment != 0;
}

std::int64_t padded_elements(std::int64_t matrices, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t unit = ProductPadding::unit;
  return matrices * std::max(rows * round_up(columns, unit), columns * round_up(rows, unit));
}

}  // namespace partita::execution
