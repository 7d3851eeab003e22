// Transposing copies, in tiles.
//
// With s the bytes of an element, element (f, t) of a matrix is copied
//
//   from  f s + t p  to  f q + t s,   f < F, t < T
//
// so adjacent elements of the source differ in f, those of the destination in t, and in the order of either
// side the other side would be accessed element by element. A block takes tiles of both loops: it reads rows
// along f into shared memory and writes rows along t. All other loops are over matrices. Also plain C++:
// tests without a device run the same code, thread by thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/alignment.hpp"
#include "kernels/cuda/everywhere.hpp"
#include "kernels/cuda/launch.hpp"

namespace partita::kernels::cuda {

/// Of a block.
inline constexpr int transpose_threads = 256;

/// Elements of a tile along the loop of the source's neighbours and along that of the destination's.
struct TileShape {
  int from = 0;
  int to = 0;
};

/// Rows of 256 bytes and more where elements have 4 or more; 64 bytes of each thread on their way at once.
constexpr TileShape tile_shape(std::int64_t element_bytes) {
  return {element_bytes < 8 ? 64 : 32, element_bytes < 16 ? 64 : 32};
}

/// A nest as matrices in tiles. `from_loop` iterates over adjacent elements of the source, `to_loop` over
/// those of the destination. No tiles: the nest is not suited.
struct Transposition {
  int from_loop = 0;
  int to_loop = 0;
  std::uint32_t from_tiles = 0;  // of a matrix along from_loop
  std::uint32_t to_tiles = 0;
  std::uint32_t tiles = 0;  // of all matrices
};

inline std::int64_t tiles_along(std::int64_t count, int side) {
  return (count + side - 1) / side;
}

/// 2^31 where there are as many or more.
inline std::int64_t count_tiles(const Nest& nest, int from_loop, int to_loop, TileShape shape) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  std::int64_t tiles = 1;
  for (int l = 0; l < nest.loops; ++l) {
    const int side = l == from_loop ? shape.from : l == to_loop ? shape.to : 1;
    const std::int64_t count = tiles_along(nest.counts[l], side);
    tiles = count > 0 && tiles > most / count ? most : tiles * count;
  }
  return std::min(tiles, most);
}

/// Other tile shapes than the kernels' are for measurements. Pure.
///
/// Not used for fewer than 16 adjacent elements: most of a tile would be empty, and the accesses of a warp
/// fill sectors of memory on both sides without tiles. Nor for rows of several elements, which are copied as
/// rows, and for negative or zero strides.
inline Transposition transposition_of(const Nest& nest, const void* from, const void* to, TileShape shape) {
  constexpr std::int64_t least = 16;
  if (alignment_of(nest, from, to) != static_cast<std::uint64_t>(nest.row_bytes)) return {};
  int from_loop = -1, to_loop = -1;
  for (int l = 0; l < nest.loops; ++l) {
    if (nest.from_strides[l] <= 0 || nest.to_strides[l] <= 0) return {};
    if (nest.from_strides[l] == nest.row_bytes) from_loop = l;
    if (nest.to_strides[l] == nest.row_bytes) to_loop = l;
  }
  if (from_loop < 0 || to_loop < 0 || from_loop == to_loop) return {};
  const std::int64_t from_count = nest.counts[from_loop], to_count = nest.counts[to_loop];
  const std::int64_t tiles = count_tiles(nest, from_loop, to_loop, shape);
  if (std::min(from_count, to_count) < least || tiles >> 31 != 0) return {};  // 32 bits number them
  return {from_loop, to_loop, static_cast<std::uint32_t>(tiles_along(from_count, shape.from)),
          static_cast<std::uint32_t>(tiles_along(to_count, shape.to)), static_cast<std::uint32_t>(tiles)};
}

inline Transposition transposition_of(const Nest& nest, const void* from, const void* to) {
  return transposition_of(nest, from, to, tile_shape(nest.row_bytes));
}

/// How a block holds a tile.
template <class Element, TileShape shape>
struct TransposeTile {
  static constexpr int kept = shape.from * shape.to / transpose_threads;  // elements of a thread
  /// Of a row in shared memory: an odd number of words, or of elements that are longer, so that no two of a
  /// column that are accessed at once share banks.
  static constexpr int pitch = shape.from + (sizeof(Element) < 4 ? 4 / static_cast<int>(sizeof(Element)) : 1);
  using Shared = Several<Element, pitch * shape.to>;
  static_assert(kept * transpose_threads == shape.from * shape.to);
  static_assert(transpose_threads % shape.from == 0 && transpose_threads % shape.to == 0);
};

/// One thread of a block. Before and after `put` all threads of the block meet.
template <class Element, TileShape shape = tile_shape(sizeof(Element))>
class TransposeThread {
 public:
  using Tile = TransposeTile<Element, shape>;
  using Shared = typename Tile::Shared;

  PARTITA_EVERYWHERE TransposeThread(const Nest& nest, const Transposition& how, const void* from, void* to,
                                     Shared& shared, int thread)
      : nest_(nest),
        how_(how),
        from_(static_cast<const char*>(from)),
        to_(static_cast<char*>(to)),
        shared_(shared),
        thread_(thread) {}

  /// Reads its elements of the next tile.
  PARTITA_EVERYWHERE void load(std::uint32_t tile) {
    constexpr int step = transpose_threads / shape.from;
    next_ = place_of(tile);
    const int f = thread_ % shape.from, first = thread_ / shape.from;
    const std::int64_t apart = nest_.from_strides[how_.to_loop];
    const char* const source = from_ + next_.from + f * element_bytes + first * apart;
    PARTITA_UNROLLED
    for (int k = 0; k < Tile::kept; ++k) {
      const bool inside = f < next_.from_count && first + k * step < next_.to_count;
      held_[k] = inside ? *reinterpret_cast<const Element*>(source + k * step * apart) : Element{};
    }
  }

  /// What it has read into shared memory: the next tile is this one.
  PARTITA_EVERYWHERE void put() {
    constexpr int step = transpose_threads / shape.from;
    const int f = thread_ % shape.from, first = thread_ / shape.from;
    PARTITA_UNROLLED
    for (int k = 0; k < Tile::kept; ++k) shared_[(first + k * step) * Tile::pitch + f] = held_[k];
    this_ = next_;
  }

  /// Writes its elements of this tile.
  PARTITA_EVERYWHERE void store() const {
    constexpr int step = transpose_threads / shape.to;
    const int t = thread_ % shape.to, first = thread_ / shape.to;
    const std::int64_t apart = nest_.to_strides[how_.from_loop];
    char* const destination = to_ + this_.to + t * element_bytes + first * apart;
    PARTITA_UNROLLED
    for (int k = 0; k < Tile::kept; ++k) {
      const int f = first + k * step;
      if (t < this_.to_count && f < this_.from_count)
        *reinterpret_cast<Element*>(destination + k * step * apart) = shared_[t * Tile::pitch + f];
    }
  }

 private:
  static constexpr std::int64_t element_bytes = sizeof(Element);

  /// Where a tile begins on either side, and how much of it there is.
  struct Place {
    std::int64_t from = 0;
    std::int64_t to = 0;
    int from_count = 0;
    int to_count = 0;
  };

  PARTITA_EVERYWHERE static int count_from(std::int64_t first, std::int64_t count, int most) {
    return count - first < most ? static_cast<int>(count - first) : most;
  }

  /// Along `to_loop` first, so that a destination is written row of tiles after row of tiles.
  PARTITA_EVERYWHERE Place place_of(std::uint32_t tile) const {
    const std::uint32_t row = tile / how_.to_tiles;
    std::uint32_t matrix = row / how_.from_tiles;
    const std::int64_t f = std::int64_t{row - matrix * how_.from_tiles} * shape.from;
    const std::int64_t t = std::int64_t{tile - row * how_.to_tiles} * shape.to;
    Place place{f * element_bytes + t * nest_.from_strides[how_.to_loop],
                f * nest_.to_strides[how_.from_loop] + t * element_bytes,
                count_from(f, nest_.counts[how_.from_loop], shape.from),
                count_from(t, nest_.counts[how_.to_loop], shape.to)};
    for (int l = nest_.loops - 1; l >= 0; --l) {
      if (l == how_.from_loop || l == how_.to_loop) continue;
      const auto count = static_cast<std::uint32_t>(nest_.counts[l]);
      const std::uint32_t outer = matrix / count;
      const std::int64_t at = matrix - outer * count;
      place.from += at * nest_.from_strides[l];
      place.to += at * nest_.to_strides[l];
      matrix = outer;
    }
    return place;
  }

  const Nest& nest_;
  const Transposition& how_;
  const char* from_;
  char* to_;
  Shared& shared_;
  int thread_;
  Place next_, this_;
  Several<Element, Tile::kept> held_;
};

/// Tiles number first, first + step, ...; a tile is read while the one before it is written. `team`: the
/// threads of a block, `for_each` of which something is done, and which `meet`.
template <class Team>
PARTITA_EVERYWHERE void transpose_tiles(Team& team, std::uint32_t first, std::uint32_t step,
                                        std::uint32_t tiles) {
  using Thread = typename Team::Thread;
  if (first >= tiles) return;
  team.for_each([first](Thread& thread) { thread.load(first); });
  for (std::uint32_t tile = first; tile < tiles; tile += step) {
    team.for_each([](Thread& thread) { thread.put(); });
    team.meet();
    team.for_each([tile, step, tiles](Thread& thread) {
      if (step < tiles - tile) thread.load(tile + step);
      thread.store();
    });
    team.meet();
  }
}

}  // namespace partita::kernels::cuda
