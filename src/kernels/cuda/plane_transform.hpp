// Fourier transforms along both axes of planes in one launch, the second ones' results into the memory of
// several owners: columns follow the rows that they cross while these are still in cache, so that links work
// from the first planes on, and nothing is started in between.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/line_pass.hpp"
#include "kernels/cuda/line_transform.hpp"

namespace partita::kernels::cuda {

/// Rows first, then the columns that cross them. Both are alike in `length`, `single` and `backward`; their
/// loops are those over planes, the same for both. Rows may be of reals, from `shortest_of_reals` on; the
/// columns are those of half spectra then.
struct PlaneTransform {
  /// Tiles of longer lines leave room for one block a multiprocessor, which is slower than launches one after
  /// the other (docs/performance.md).
  static constexpr std::int64_t longest = 512;
  static constexpr std::int64_t shortest_of_reals = 32;  ///< shorter lines do not go through shared memory
  static constexpr std::int64_t most_bands = 1024;

  LineTransform rows;  ///< in one piece, from which `columns` reads
  LineTransform columns;
  /// counters_of(planes) of them in this device's memory, 0 before and after. No two launches at once use the
  /// same.
  std::uint32_t* counters = nullptr;
};

/// Neighbouring planes that are counted together.
PARTITA_EVERYWHERE constexpr std::int64_t planes_of_band(std::int64_t planes) {
  return (planes + PlaneTransform::most_bands - 1) / PlaneTransform::most_bands;
}

/// For the next tile, for blocks that have finished, and for the rows done of each band.
PARTITA_EVERYWHERE constexpr std::int64_t counters_of(std::int64_t planes) {
  return planes == 0 ? 2 : 2 + (planes + planes_of_band(planes) - 1) / planes_of_band(planes);
}

inline std::int64_t planes_of(const PlaneTransform& what) {
  std::int64_t planes = 1;
  for (int l = 0; l < what.rows.loops; ++l) planes *= what.rows.counts[l];
  return planes;
}

/// The order in which blocks take tiles: first some tiles of rows, then rows and columns in proportion, then
/// the remaining columns. All tiles that a column depends on come before it, so that blocks, which take the
/// next tile when they are done, never wait for a tile that no block has taken.
class PlaneOrder {
 public:
  struct Tile {
    bool column = false;
    std::int64_t number = 0;  ///< among all rows' or all columns' tiles
  };

  /// Tiles of a plane; rows `ahead` at least, more where a band has more.
  PARTITA_EVERYWHERE PlaneOrder(std::int64_t planes, std::int64_t row_tiles, std::int64_t column_tiles,
                                std::int64_t ahead)
      : planes_(planes), row_tiles_(row_tiles), column_tiles_(column_tiles) {
    const std::int64_t band = planes_of_band(planes) * row_tiles, rows = planes * row_tiles;
    lead_ = ahead > band ? ahead : band;
    if (lead_ > rows) lead_ = rows;
    mixed_columns_ = row_tiles == 0 ? 0 : (rows - lead_) * column_tiles / row_tiles;
    mixed_ = rows - lead_ + mixed_columns_;
  }

  PARTITA_EVERYWHERE std::int64_t tiles() const { return planes_ * (row_tiles_ + column_tiles_); }

  PARTITA_EVERYWHERE Tile at(std::int64_t turn) const {
    if (turn < lead_) return {false, turn};
    turn -= lead_;
    if (turn >= mixed_) return {true, mixed_columns_ + turn - mixed_};
    const std::int64_t columns = turn * mixed_columns_ / mixed_;
    const bool column = (turn + 1) * mixed_columns_ / mixed_ > columns;
    return {column, column ? columns : lead_ + turn - columns};
  }

  PARTITA_EVERYWHERE std::int64_t band_of(const Tile& tile) const {
    return tile.number / (tile.column ? column_tiles_ : row_tiles_) / planes_of_band(planes_);
  }
  PARTITA_EVERYWHERE std::int64_t bands() const { return counters_of(planes_) - 2; }
  PARTITA_EVERYWHERE std::int64_t rows_of_band(std::int64_t band) const {
    const std::int64_t most = planes_of_band(planes_), left = planes_ - band * most;
    return (left < most ? left : most) * row_tiles_;
  }

 private:
  std::int64_t planes_, row_tiles_, column_tiles_;
  std::int64_t lead_ = 0, mixed_ = 0, mixed_columns_ = 0;
};

/// Of the `room` blocks that a device has at once: with more, those that store and those that read are in
/// each other's way (docs/performance.md).
constexpr std::int64_t blocks_of_planes(std::int64_t tiles, std::int64_t room) {
  return std::min(tiles, std::max<std::int64_t>(room / 2, 1));
}
/// With so many row tiles taken before the columns that cross the first of them, these wait for none for
/// long; but links begin before a quarter of all rows is done.
/// Tiles of reals of 32 bits hold twice as many rows as others.
constexpr std::int64_t rows_ahead(std::int64_t row_tiles, std::int64_t blocks, bool short_reals) {
  return std::min((short_reals ? 1 : 2) * blocks, row_tiles / 4);
}

constexpr bool transforms_planes_of(std::int64_t length, bool of_reals) {
  return transforms_lines_of(length) && length <= PlaneTransform::longest &&
         (!of_reals || length >= PlaneTransform::shortest_of_reals);
}

/// Whether the current device has room for it in the shared memory of a block.
bool has_plane_transform(std::int64_t length, bool single, bool of_reals);

/// A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_plane_transform(const PlaneTransform& what, void* stream);

/// As load_copy_kernels.
int load_plane_transform_kernels();

}  // namespace partita::kernels::cuda
