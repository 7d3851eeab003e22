#include "kernels/host/line_buffer.hpp"

#include <cstring>

namespace partita {

void stream_piece(const CopyKernels& kernels, const Piece& piece, std::byte* buffer, std::byte* to) {
  const std::int64_t shift = line_shift(to);
  const std::int64_t first = piece.is_first ? 0 : -shift;
  const std::int64_t broken = (shift + piece.bytes) % line_bytes;
  const std::int64_t last = piece.is_last ? piece.bytes : piece.bytes - broken;
  if (last > first) kernels.stream(buffer + first, to + first, last - first);
  if (piece.is_last || broken == 0) return;
  std::memcpy(buffer - shift, buffer + piece.bytes - broken, static_cast<std::size_t>(line_bytes));
}

}  // namespace partita
