// The inner kernels of the strided copy: one table for each instruction set, chosen when the program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/host/copy.hpp"

namespace partita::kernels {

/// A matrix of items to be transposed: to[column][row] = from[row][column], the items of a row adjacent in
/// `from`, those of a column adjacent in `to`. Strides in bytes.
struct TransposeShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t from_stride = 0;  ///< from one row to the next in `from`
  std::int64_t to_stride = 0;    ///< from one column to the next in `to`
};

/// Kernels are stateless and thread-safe. Addresses need no alignment.
struct CopyKernels {
  using Stream = void (*)(const std::byte* from, std::byte* to, std::int64_t bytes);
  using StreamRows = void (*)(const std::byte* from, std::byte* to, std::int64_t row_bytes,
                              const CopyLoop& rows);
  using Transpose = void (*)(const std::byte* from, std::byte* to, const TransposeShape& shape);

  std::string_view name;    ///< "avx512", "avx2", "portable"
  Stream stream = nullptr;  ///< one contiguous run, whole lines written past the cache where possible
  StreamRows stream_rows = nullptr;
  Transpose transpose[5] = {};  ///< for items of 1, 2, 4, 8, 16 bytes; plain stores
  void (*finish)() = nullptr;   ///< after the last streamed store: orders it before any later store
};

/// The fastest table that this machine can run.
const CopyKernels& copy_kernels();

/// All tables that this machine can run, fastest first; for tests.
std::span<const CopyKernels* const> available_copy_kernels();

/// `copy` with a given table; for tests.
void copy_with(const CopyKernels& kernels, const StridedCopy& nest, const void* from, void* to,
               StoreHint hint);

/// The table that any machine can run.
extern const CopyKernels portable_copy_kernels;

/// Whether the two innermost loops of a simplified nest are a transpose of items that the kernels know.
bool ends_in_transpose(const StridedCopy& nest);

/// to[column][row] = from[row][column] for items of `item_bytes` (1, 2, 4, 8 or 16) bytes. With
/// `StoreHint::memory` the caller calls `kernels.finish()` afterwards.
void transpose_pair(const CopyKernels& kernels, std::int64_t item_bytes, const TransposeShape& shape,
                    const std::byte* from, std::byte* to, StoreHint hint);

}  // namespace partita::kernels
