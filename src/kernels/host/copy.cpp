// Which kernel runs a simplified nest.
#include "kernels/host/copy.hpp"

#include <cstddef>

#include "kernels/host/copy_kernels.hpp"
#include "kernels/host/rows.hpp"
#include "kernels/host/walk.hpp"

namespace partita {

void copy_with(const CopyKernels&, const StridedCopy& nest, const void* from, void* to, StoreHint) {
  if (nest.item_bytes == 0) return;
  const std::byte* source = static_cast<const std::byte*>(from) + nest.from_offset;
  std::byte* destination = static_cast<std::byte*>(to) + nest.to_offset;
  for_each_row(nest, source, destination, [&](const std::byte* f, std::byte* t, const CopyLoop& rows) {
    copy_rows(f, t, nest.item_bytes, rows);
  });
}

void copy(const StridedCopy& nest, const void* from, void* to, StoreHint hint) {
  copy_with(copy_kernels(), nest, from, to, hint);
}

}  // namespace partita
