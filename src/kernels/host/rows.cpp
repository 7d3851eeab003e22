#include "kernels/host/rows.hpp"

#include <cstddef>
#include <cstring>

namespace partita {
namespace {

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

}  // namespace partita
