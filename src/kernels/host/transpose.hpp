// The driver of transposes: tiles that fit the caches, whole lines towards memory.
#pragma once

#include <cstddef>

#include "kernels/host/copy_kernels.hpp"

namespace partita {

/// Whether the two innermost loops of a simplified nest are a transpose of items that the kernels know.
bool ends_in_transpose(const StridedCopy& nest);

/// to[column][row] = from[row][column] for items of `item_bytes` (1, 2, 4, 8 or 16) bytes. With
/// `StoreHint::memory` the caller calls `kernels.finish()` afterwards.
void transpose_pair(const CopyKernels& kernels, std::int64_t item_bytes, const TransposeShape& shape,
                    const std::byte* from, std::byte* to, StoreHint hint);

}  // namespace partita
