// NVSHMEM without GPUs: processes of one machine whose symmetric heap is shared host memory.
#pragma once

#include "memory/nvshmem_library.hpp"

namespace partita::testing {

/// Its functions do as the real library's do, for one allocation.
const memory::NvshmemLibrary& fake_nvshmem();

/// This process has not started it, and a start will not return on its last PE until called with false; then
/// it fails.
void let_fake_nvshmem_hang(bool hang);

}  // namespace partita::testing
