// Fresh memory of other packages.
#pragma once

#include <cstdint>

namespace partita::python {

/// Asks the kernel for huge pages (madvise) behind memory that another package has allocated for a result and
/// is still untouched: the first touch of small pages takes several times as long as the copy into them. What
/// has been touched stays as it is, and so does little memory.
void advise_huge_pages(void* data, std::int64_t bytes) noexcept;

}  // namespace partita::python
