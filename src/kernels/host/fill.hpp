// Filling the destination side of a nest with one element.
#pragma once

#include "kernels/host/copy.hpp"

namespace partita::kernels {

/// The nest that `fill` wants: only the destination side of `nest`, simplified. Done once, like `simplify`.
StridedCopy destination_of(StridedCopy nest);

/// Writes `element`, of `element_bytes` (1, 2, 4, 8 or 16) bytes, to every place of the destination side of
/// `nest`, whose `item_bytes` is a multiple of `element_bytes`. Thread-safe. Throws ArgumentError otherwise.
void fill(const StridedCopy& nest, const void* element, std::int64_t element_bytes, void* to, StoreHint hint);

}  // namespace partita::kernels
