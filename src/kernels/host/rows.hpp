// Rows of runs copied with plain stores.
#pragma once

#include <cstddef>

#include "kernels/host/copy.hpp"

namespace partita {

/// rows.count runs of `item_bytes` bytes each. No alignment is needed.
void copy_rows(const std::byte* from, std::byte* to, std::int64_t item_bytes, const CopyLoop& rows);

}  // namespace partita
