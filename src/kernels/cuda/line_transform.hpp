// Fourier transforms along lines of a power of two whose results go where they belong, piece by piece into
// the memory of several owners: an exchange between ranks fused with the transform before it. How a block of
// threads does it stands in line_tiles.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace partita::kernels::cuda {

/// Transforms all lines of `neighbours` x `counts`, each of `length` numbers, times `scale`, and stores them
/// in the pieces. Strides in complex numbers. In place if each line is stored where it was read; otherwise
/// source and destination must not overlap.
struct LineTransform {
  static constexpr int longest = 2048;
  static constexpr int most_loops = 6;
  static constexpr int most_pieces = 16;

  /// Positions from `first` up to that of the next piece (or the end) of all lines are in one owner's memory.
  struct Piece {
    std::int64_t first = 0;
    void* to = nullptr;      ///< destination of position `first` of the first line
    std::int64_t along = 1;  ///< from one position to the next
    std::int64_t apart = 1;  ///< from one line to its neighbour
    std::int64_t strides[most_loops] = {};
  };

  bool single = false;  ///< numbers of 32 bits
  bool backward = false;
  /// Two lines of real numbers are read as one, its real and imaginary parts, and the half spectra of both,
  /// of length / 2 + 1 numbers, go into the one piece. Strides of what is read are in real numbers then. Of
  /// rows of planes alone (plane_transform.hpp).
  bool of_reals = false;
  std::int64_t from_pair = 0, to_pair = 0;  ///< from one of the two to the other
  std::int64_t length = 0;                  ///< a power of two, from 2 on
  double scale = 1;
  const void* from = nullptr;
  std::int64_t from_along = 1, from_apart = 1;
  std::int64_t neighbours = 1;
  int loops = 0;  ///< over groups of neighbours, outermost first
  std::int64_t counts[most_loops] = {};
  std::int64_t from_strides[most_loops] = {};
  int pieces = 0;
  Piece piece[most_pieces];
  /// The share of the results at this destination that is stored over links; 0: none.
  double link_share = 0;
  bool over_links =
      false;  ///< this transform stores over links; otherwise it may run concurrently with ones that do
};

/// Blocks per multiprocessor that keep its share of the links busy if all results were stored over them: for
/// tiles of 64 KiB, on a device that stores at 390 GB/s. Links are slower than memory, so other kernels find
/// room concurrently.
inline constexpr double blocks_for_links = 0.375;

/// Of the `room` blocks that a device can run at once, the number for so many tiles. Transforms that store
/// over links use no more than they need, and concurrent ones use the rest: blocks remain until all tiles are
/// done, and blocks that find no room would delay the next kernel. All blocks have the same number of tiles,
/// as far as possible.
inline std::int64_t blocks_of_lines(const LineTransform& what, std::int64_t tiles, std::int64_t tile_bytes,
                                    std::int64_t room, std::int64_t multiprocessors) {
  constexpr double large_tile = 65536;
  std::int64_t most = room;
  if (what.link_share > 0) {
    const double smaller = large_tile / static_cast<double>(tile_bytes);
    const double wanted = blocks_for_links * static_cast<double>(multiprocessors) / what.link_share;
    const auto needed = static_cast<std::int64_t>(wanted * std::max(smaller, 1.0));
    const std::int64_t storing = std::max(std::min(needed, room / 2), std::int64_t{1});
    most = std::max(what.over_links ? storing : room - storing, std::int64_t{1});
  }
  const std::int64_t turns = (tiles + most - 1) / most;
  return turns > 0 ? (tiles + turns - 1) / turns : 0;
}

/// Whether there is a kernel for lines of that length.
constexpr bool transforms_lines_of(std::int64_t length) {
  return length >= 2 && length <= LineTransform::longest && (length & (length - 1)) == 0;
}

/// Whether the current device has room for it in the shared memory of a block.
bool has_line_transform(std::int64_t length, bool single);

/// A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_line_transform(const LineTransform& what, void* stream);

/// As load_copy_kernels.
int load_line_transform_kernels();

}  // namespace partita::kernels::cuda
