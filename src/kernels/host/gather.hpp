// Short or misaligned runs that lie side by side in the destination, streamed as whole lines.
#pragma once

#include <cstddef>

#include "kernels/host/copy_kernels.hpp"

namespace partita {

/// Whether `gather_rows` can run rows of such a loop: adjacent runs, short enough for its buffer.
bool is_gather(std::int64_t item_bytes, const CopyLoop& rows);

/// rows.count runs of `item_bytes` bytes, adjacent in the destination. The caller calls `kernels.finish()`.
void gather_rows(const CopyKernels& kernels, const std::byte* from, std::byte* to, std::int64_t item_bytes,
                 const CopyLoop& rows);

}  // namespace partita
