#include "kernels/host/gather.hpp"

#include <algorithm>

#include "kernels/host/line_buffer.hpp"
#include "kernels/host/rows.hpp"

namespace partita {
namespace {

constexpr std::int64_t piece_bytes = 8192;   // half of the nearest cache at most
constexpr std::int64_t longest_item = 2048;  // longer runs are streamed one by one
constexpr std::int64_t shortest_row = 512;   // less is not worth streaming

}  // namespace

bool is_gather(std::int64_t item_bytes, const CopyLoop& rows) {
  return rows.to_stride == item_bytes && item_bytes <= longest_item &&
         rows.count * item_bytes >= shortest_row;
}

void gather_rows(const CopyKernels& kernels, const std::byte* from, std::byte* to, std::int64_t item_bytes,
                 const CopyLoop& rows) {
  alignas(line_bytes) std::byte room[piece_bytes + longest_item + 3 * line_bytes];
  std::byte* buffer = room + line_bytes + line_shift(to);
  // `held` bytes of the piece lie in the buffer; items are added until it is full, or none is left.
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

}  // namespace partita
