// A part cut into tiles, each of which a device makes as one.
#pragma once

#include <cstdint>

#include "device/host_device.hpp"

namespace shallow_water {

/// Cells of a part.
struct Tile {
  std::int64_t from_row, to_row, from, to;
};

/// Which tiles: those in the midst read no ghost cell, so that they need not wait for any.
enum class Where { inside, edges };

/// So many rows and columns each at most, evenly, and each begins at a multiple of `unit` columns. To be four
/// rows and columns at least, or tiles at the edges would read ghost cells.
class Tiling {
 public:
  HOST_AND_DEVICE Tiling(std::int64_t rows, std::int64_t columns, std::int64_t tile_rows,
                         std::int64_t tile_columns, std::int64_t unit)
      : rows_(rows),
        columns_(columns),
        unit_(unit),
        units_((columns + unit - 1) / unit),
        down_((rows + tile_rows - 1) / tile_rows),
        across_((columns + tile_columns - 1) / tile_columns) {}

  HOST_AND_DEVICE std::int64_t count(Where where) const {
    const std::int64_t within = has_inside() ? (down_ - 2) * (across_ - 2) : 0;
    return where == Where::inside ? within : down_ * across_ - within;
  }

  HOST_AND_DEVICE Tile tile(Where where, std::int64_t number) const {
    if (where == Where::inside) return at(1 + number / (across_ - 2), 1 + number % (across_ - 2));
    if (!has_inside()) return at(number / across_, number % across_);
    if (number < across_) return at(0, number);
    if (number < 2 * across_) return at(down_ - 1, number - across_);
    const std::int64_t beside = number - 2 * across_;
    return at(1 + beside / 2, beside % 2 == 0 ? 0 : across_ - 1);
  }

 private:
  HOST_AND_DEVICE bool has_inside() const { return down_ > 2 && across_ > 2; }
  HOST_AND_DEVICE Tile at(std::int64_t row, std::int64_t column) const {
    const std::int64_t to = units_ * (column + 1) / across_ * unit_;
    return {rows_ * row / down_, rows_ * (row + 1) / down_, units_ * column / across_ * unit_,
            to < columns_ ? to : columns_};
  }

  std::int64_t rows_, columns_, unit_, units_, down_, across_;
};

}  // namespace shallow_water
