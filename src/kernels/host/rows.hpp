// Rows of runs: copied with plain stores, or streamed. A streamed store of part of a cache line costs several
// times that of a whole one, so short runs that are adjacent in the destination are first combined to whole
// lines in a buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/host/copy_kernels.hpp"

namespace partita::kernels {

/// rows.count runs of `item_bytes` bytes each. No alignment is needed.
void copy_rows(const std::byte* from, std::byte* to, std::int64_t item_bytes, const CopyLoop& rows);

inline constexpr std::int64_t line_bytes = 64;

/// The position of an address in its line.
inline std::int64_t line_shift(const std::byte* address) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % line_bytes);
}

/// A run that is longer than a buffer comes in pieces.
struct Piece {
  std::int64_t bytes = 0;
  bool is_first = true;
  bool is_last = true;
};

/// Streams a piece to `to`. `buffer` contains it with the alignment of `to` modulo a cache line, with a line
/// of room before it. Only whole lines are streamed: the partial one at the end is kept before `buffer`,
/// where the next piece, which must follow at the destination, continues. Only the first and the last line of
/// the run are stored plainly. All pieces but the last are multiples of a line.
void stream_piece(const CopyKernels& kernels, const Piece& piece, std::byte* buffer, std::byte* to);

/// Whether `gather_rows` can run rows of such a loop: adjacent runs, short enough for its buffer.
bool is_gather(std::int64_t item_bytes, const CopyLoop& rows);

/// rows.count runs of `item_bytes` bytes, adjacent in the destination. The caller calls `kernels.finish()`.
void gather_rows(const CopyKernels& kernels, const std::byte* from, std::byte* to, std::int64_t item_bytes,
                 const CopyLoop& rows);

}  // namespace partita::kernels
