// Which kernel runs a simplified nest.
#include "kernels/host/copy.hpp"

#include <cstddef>

#include "kernels/host/copy_kernels.hpp"
#include "kernels/host/rows.hpp"
#include "kernels/host/transpose.hpp"
#include "kernels/host/walk.hpp"

namespace partita {
namespace {

// Shorter runs hold too few whole lines to be worth streaming.
constexpr std::int64_t shortest_streamed_run = 256;

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

void copy_with(const CopyKernels& kernels, const StridedCopy& nest, const void* from, void* to,
               StoreHint hint) {
  if (nest.item_bytes == 0) return;
  const std::byte* source = static_cast<const std::byte*>(from) + nest.from_offset;
  std::byte* destination = static_cast<std::byte*>(to) + nest.to_offset;
  if (ends_in_transpose(nest)) {
    copy_transposes(kernels, nest, source, destination, hint);
  } else {
    const bool streamed = hint == StoreHint::memory && nest.item_bytes >= shortest_streamed_run;
    const auto rows_kernel = streamed ? kernels.stream_rows : copy_rows;
    for_each_row(nest, source, destination, [&](const std::byte* f, std::byte* t, const CopyLoop& rows) {
      rows_kernel(f, t, nest.item_bytes, rows);
    });
  }
  if (hint == StoreHint::memory) kernels.finish();
}

void copy(const StridedCopy& nest, const void* from, void* to, StoreHint hint) {
  copy_with(copy_kernels(), nest, from, to, hint);
}

}  // namespace partita
