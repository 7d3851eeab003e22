#include "kernels/host/rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace partita::kernels {
namespace {

constexpr std::int64_t piece_bytes = 8192;   // half of the nearest cache at most
constexpr std::int64_t longest_item = 2048;  // longer runs are streamed one by one
constexpr std::int64_t shortest_row = 512;   // less is not worth streaming

template <std::size_t size>
void copy_items(const std::byte* from, std::byte* to, const CopyLoop& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::memcpy(to + i * rows.to_stride, from + i * rows.from_stride, size);
  }
}

// A run of half < bytes <= 2 * half bytes: its first and its last `half` bytes, which may overlap. Both are
// loaded before either is stored.
template <std::size_t half>
void copy_between(const std::byte* from, std::byte* to, std::int64_t bytes, const CopyLoop& rows) {
  const std::int64_t last = bytes - static_cast<std::int64_t>(half);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::byte* source = from + i * rows.from_stride;
    std::byte* destination = to + i * rows.to_stride;
    std::byte head[half];
    std::byte tail[half];
    std::memcpy(head, source, half);
    std::memcpy(tail, source + last, half);
    std::memcpy(destination, head, half);
    std::memcpy(destination + last, tail, half);
  }
}

void copy_long(const std::byte* from, std::byte* to, std::int64_t bytes, const CopyLoop& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::memcpy(to + i * rows.to_stride, from + i * rows.from_stride, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

void copy_rows(const std::byte* from, std::byte* to, std::int64_t item_bytes, const CopyLoop& rows) {
  if (item_bytes == 8) return copy_items<8>(from, to, rows);
  if (item_bytes == 4) return copy_items<4>(from, to, rows);
  if (item_bytes == 16) return copy_items<16>(from, to, rows);
  if (item_bytes == 2) return copy_items<2>(from, to, rows);
  if (item_bytes == 1) return copy_items<1>(from, to, rows);
  if (item_bytes > 128) return copy_long(from, to, item_bytes, rows);
  if (item_bytes > 64) return copy_between<64>(from, to, item_bytes, rows);
  if (item_bytes > 32) return copy_between<32>(from, to, item_bytes, rows);
  if (item_bytes > 16) return copy_between<16>(from, to, item_bytes, rows);
  if (item_bytes > 8) return copy_between<8>(from, to, item_bytes, rows);
  if (item_bytes > 4) return copy_between<4>(from, to, item_bytes, rows);
  copy_between<2>(from, to, item_bytes, rows);
}

void stream_piece(const CopyKernels& kernels, const Piece& piece, std::byte* buffer, std::byte* to) {
  const std::int64_t shift = line_shift(to);
  const std::int64_t first = piece.is_first ? 0 : -shift;
  const std::int64_t broken = (shift + piece.bytes) % line_bytes;
  const std::int64_t last = piece.is_last ? piece.bytes : piece.bytes - broken;
  if (last > first) kernels.stream(buffer + first, to + first, last - first);
  if (piece.is_last || broken == 0) return;
  std::memcpy(buffer - shift, buffer + piece.bytes - broken, static_cast<std::size_t>(line_bytes));
}

bool is_gather(std::int64_t item_bytes, const CopyLoop& rows) {
  return rows.to_stride == item_bytes && item_bytes <= longest_item &&
         rows.count * item_bytes >= shortest_row;
}

void gather_rows(const CopyKernels& kernels, const std::byte* from, std::byte* to, std::int64_t item_bytes,
                 const CopyLoop& rows) {
  alignas(line_bytes) std::byte room[piece_bytes + longest_item + 3 * line_bytes];
  std::byte* buffer = room + line_bytes + line_shift(to);
  // `held` bytes of the piece are in the buffer; items are added until it is full, or none is left.
  std::int64_t held = 0;
  std::int64_t streamed = 0;
  for (std::int64_t item = 0; item < rows.count;) {
    const std::int64_t room_for = (piece_bytes - held + item_bytes - 1) / item_bytes;
    const std::int64_t count = std::min(rows.count - item, room_for);
    copy_rows(from + item * rows.from_stride, buffer + held, item_bytes,
              {count, rows.from_stride, item_bytes});
    item += count;
    held += count * item_bytes;
    const Piece piece{item == rows.count ? held : piece_bytes, streamed == 0, item == rows.count};
    stream_piece(kernels, piece, buffer, to + streamed);
    streamed += piece.bytes;
    held -= piece.bytes;
    // What the last item had beyond the piece begins the next one.
    std::copy_n(buffer + piece.bytes, held, buffer);
  }
}

}  // namespace partita::kernels
