#include "kernels/host/fill.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/check.hpp"
#include "kernels/host/copy_kernels.hpp"
#include "kernels/host/rows.hpp"
#include "kernels/host/walk.hpp"

namespace partita::kernels {
namespace {

constexpr std::int64_t pattern_bytes = 4096;
using Pattern = std::array<std::byte, pattern_bytes>;

// The element repeated; only as much of it is made as one run needs.
void repeat(const void* element, std::int64_t element_bytes, std::int64_t run, Pattern& pattern) {
  for (std::int64_t at = 0; at < std::min(run, pattern_bytes); at += element_bytes) {
    std::memcpy(pattern.data() + at, element, static_cast<std::size_t>(element_bytes));
  }
}

void fill_run(const Pattern& pattern, std::byte* to, std::int64_t run, StoreHint hint) {
  const auto write = hint == StoreHint::memory ? copy_kernels().stream : portable_copy_kernels.stream;
  for (std::int64_t at = 0; at < run; at += pattern_bytes) {
    write(pattern.data(), to + at, std::min(pattern_bytes, run - at));
  }
}

}  // namespace

StridedCopy destination_of(StridedCopy nest) {
  nest.from_offset = nest.to_offset;
  for (CopyLoop& loop : nest.loops) loop.from_stride = loop.to_stride;
  return simplify(std::move(nest));
}

void fill(const StridedCopy& nest, const void* element, std::int64_t element_bytes, void* to,
          StoreHint hint) {
  check(element_bytes > 0 && pattern_bytes % element_bytes == 0 && nest.item_bytes % element_bytes == 0,
        "runs of {} bytes cannot be filled with elements of {} bytes", nest.item_bytes, element_bytes);
  if (nest.item_bytes == 0) return;
  Pattern pattern;
  repeat(element, element_bytes, nest.item_bytes, pattern);
  // The source does not move: every run reads the pattern.
  StridedCopy still = nest;
  for (CopyLoop& loop : still.loops) loop.from_stride = 0;
  std::byte* destination = static_cast<std::byte*>(to) + nest.to_offset;
  for_each_row(still, pattern.data(), destination,
               [&](const std::byte* f, std::byte* t, const CopyLoop& rows) {
                 if (nest.item_bytes <= 256) return copy_rows(f, t, nest.item_bytes, rows);
                 for (std::int64_t i = 0; i < rows.count; ++i)
                   fill_run(pattern, t + i * rows.to_stride, nest.item_bytes, hint);
               });
  copy_kernels().finish();
}

}  // namespace partita::kernels
