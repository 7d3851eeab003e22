// The driver of transposes: tiles that fit the caches, whole lines towards memory.
#include <algorithm>
#include <bit>

#include "kernels/host/copy_kernels.hpp"
#include "kernels/host/rows.hpp"

namespace partita::kernels {
namespace {

// Towards the source a tile is a whole page wide where the buffer allows it: reading is what limits a
// transpose, and short visits of many pages halve its speed. Towards the destination half a kilobyte is
// enough.
constexpr std::int64_t tile_row_bytes = 512;
constexpr std::int64_t tile_page_bytes = 4096;
constexpr std::int64_t most_tile_columns = 512;
constexpr std::int64_t widest_pitch = tile_row_bytes + 3 * line_bytes;

struct Tile {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  TransposeShape shape;
  bool is_first = true;  // in its rows of the destination
  bool is_last = true;
};

template <class Body>
void for_each_tile(std::int64_t item, const TransposeShape& shape, const std::byte* from, std::byte* to,
                   std::int64_t tile_rows, std::int64_t tile_columns, const Body& body) {
  for (std::int64_t column = 0; column < shape.columns; column += tile_columns) {
    for (std::int64_t row = 0; row < shape.rows; row += tile_rows) {
      Tile tile{from + row * shape.from_stride + column * item, to + column * shape.to_stride + row * item,
                shape, row == 0, row + tile_rows >= shape.rows};
      tile.shape.rows = std::min(tile_rows, shape.rows - row);
      tile.shape.columns = std::min(tile_columns, shape.columns - column);
      body(tile);
    }
  }
}

}  // namespace

bool ends_in_transpose(const StridedCopy& nest) {
  const std::size_t size = nest.loops.size();
  if (size < 2 || nest.item_bytes > 16 || !std::has_single_bit(static_cast<std::uint64_t>(nest.item_bytes))) {
    return false;
  }
  return nest.loops[size - 2].from_stride == nest.item_bytes &&
         nest.loops[size - 1].to_stride == nest.item_bytes;
}

void transpose_pair(const CopyKernels& kernels, std::int64_t item, const TransposeShape& shape,
                    const std::byte* from, std::byte* to, StoreHint hint) {
  const auto kernel = kernels.transpose[std::countr_zero(static_cast<std::uint64_t>(item))];
  const std::int64_t tile_rows = tile_row_bytes / item;
  if (hint == StoreHint::cache) {
    for_each_tile(item, shape, from, to, tile_rows, tile_row_bytes / item,
                  [&](const Tile& tile) { kernel(tile.from, tile.to, tile.shape); });
    return;
  }
  const std::int64_t tile_columns = std::min(most_tile_columns, tile_page_bytes / item);
  // The rows of the buffer have the alignment of the rows of the destination, and a line of room before them.
  alignas(line_bytes) std::byte room[most_tile_columns * widest_pitch + 2 * line_bytes];
  const std::int64_t pitch = tile_row_bytes + 2 * line_bytes + shape.to_stride % line_bytes;
  std::byte* buffer = room + line_bytes + line_shift(to);
  for_each_tile(item, shape, from, to, tile_rows, tile_columns, [&](const Tile& tile) {
    TransposeShape into_buffer = tile.shape;
    into_buffer.to_stride = pitch;
    kernel(tile.from, buffer, into_buffer);
    const Piece piece{tile.shape.rows * item, tile.is_first, tile.is_last};
    for (std::int64_t i = 0; i < tile.shape.columns; ++i) {
      stream_piece(kernels, piece, buffer + i * pitch, tile.to + i * shape.to_stride);
    }
  });
}

}  // namespace partita::kernels
