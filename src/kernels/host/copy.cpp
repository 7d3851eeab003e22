// Which kernel runs a simplified nest.
#include "kernels/host/copy.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/host/copy_kernels.hpp"
#include "kernels/host/copy_onto_itself.hpp"
#include "kernels/host/rows.hpp"
#include "kernels/host/walk.hpp"

namespace partita::kernels {
namespace {

// Shorter runs hold too few whole lines to be worth streaming, unless they are lines themselves.
constexpr std::int64_t shortest_streamed_run = 256;

bool is_of_whole_lines(const StridedCopy& nest, const std::byte* to) {
  const auto whole = [](std::int64_t bytes) { return bytes % line_bytes == 0; };
  return line_shift(to) == 0 && whole(nest.item_bytes) &&
         std::all_of(nest.loops.begin(), nest.loops.end(),
                     [&](const CopyLoop& loop) { return whole(loop.to_stride); });
}

void copy_streamed(const CopyKernels& kernels, const StridedCopy& nest, const std::byte* from,
                   std::byte* to) {
  const bool whole_lines = is_of_whole_lines(nest, to);
  const bool is_long = whole_lines || nest.item_bytes >= shortest_streamed_run;
  for_each_row(nest, from, to, [&](const std::byte* f, std::byte* t, const CopyLoop& rows) {
    if (!whole_lines && is_gather(nest.item_bytes, rows)) {
      gather_rows(kernels, f, t, nest.item_bytes, rows);
    } else if (is_long) {
      kernels.stream_rows(f, t, nest.item_bytes, rows);
    } else {
      copy_rows(f, t, nest.item_bytes, rows);
    }
  });
}

void copy_cached(const StridedCopy& nest, const std::byte* from, std::byte* to) {
  for_each_row(nest, from, to, [&](const std::byte* f, std::byte* t, const CopyLoop& rows) {
    copy_rows(f, t, nest.item_bytes, rows);
  });
}

void copy_transposes(const CopyKernels& kernels, const StridedCopy& nest, const std::byte* from,
                     std::byte* to, StoreHint hint) {
  const std::span<const CopyLoop> loops = nest.loops;
  const CopyLoop& columns = loops[loops.size() - 2];
  const CopyLoop& rows = loops.back();
  const TransposeShape shape{rows.count, columns.count, rows.from_stride, columns.to_stride};
  walk(loops.first(loops.size() - 2), from, to, [&](const std::byte* source, std::byte* destination) {
    transpose_pair(kernels, nest.item_bytes, shape, source, destination, hint);
  });
}

}  // namespace

bool is_onto_itself(const StridedCopy& nest, const void* from, const void* to) {
  return static_cast<const std::byte*>(from) + nest.from_offset ==
             static_cast<const std::byte*>(to) + nest.to_offset &&
         std::all_of(nest.loops.begin(), nest.loops.end(),
                     [](const CopyLoop& loop) { return loop.from_stride == loop.to_stride; });
}

void copy_with(const CopyKernels& kernels, const StridedCopy& nest, const void* from, void* to,
               StoreHint hint) {
  if (nest.item_bytes == 0 || is_onto_itself(nest, from, to)) return;
  const std::byte* source = static_cast<const std::byte*>(from) + nest.from_offset;
  std::byte* destination = static_cast<std::byte*>(to) + nest.to_offset;
  if (ends_in_transpose(nest)) {
    copy_transposes(kernels, nest, source, destination, hint);
  } else if (hint == StoreHint::memory) {
    copy_streamed(kernels, nest, source, destination);
  } else {
    copy_cached(nest, source, destination);
  }
  if (hint == StoreHint::memory) kernels.finish();
}

void copy(const StridedCopy& nest, const void* from, void* to, StoreHint hint) {
  copy_with(copy_kernels(), nest, from, to, hint);
}

}  // namespace partita::kernels
