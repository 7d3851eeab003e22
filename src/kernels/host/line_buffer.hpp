// Whole lines out of pieces: a streamed store of a part of a line costs several times that of the whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/host/copy_kernels.hpp"

namespace partita {

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

/// Streams a piece to `to`. `buffer` holds it with the alignment of `to` modulo a line, with a line of room
/// before it. Only whole lines are streamed: the broken one at the end waits before `buffer`, where the next
/// piece, which must be written to the same place, goes on. Only the first and the last line of the run are
/// stored plainly. All pieces but the last are multiples of a line.
void stream_piece(const CopyKernels& kernels, const Piece& piece, std::byte* buffer, std::byte* to);

}  // namespace partita
