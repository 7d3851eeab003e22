// Memory behind addresses, in huge pages where the kernel gives them.
#pragma once

#include "base/pages.hpp"
#include "base/round.hpp"

namespace partita::memory {

/// Gives pages to [first, end) of a memory file, whose start is mapped at `base` (all multiples of 2 MiB).
/// The file is already that long. Huge pages without any setting of the machine: one small page of each 2 MiB
/// is written and MADV_COLLAPSE (Linux 6.1) turns it into a huge one, which also costs a tenth of touching
/// all small pages. Peers that map the file at a multiple of 2 MiB then get huge pages at their first fault.
/// Where the kernel refuses, small pages. Throws MemoryError when there is no memory; never a SIGBUS.
void populate_memory_file(int file, char* base, std::int64_t first, std::int64_t end);

/// Gives pages to [first, end), anonymous and writable.
void populate_anonymous(char* first, std::int64_t bytes);

}  // namespace partita::memory
