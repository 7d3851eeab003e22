// Elements of one dtype to elements of another.
#pragma once

#include <partita/view.hpp>

namespace partita::kernels {

/// to[...] = from[...], converted as `astype` says: views in host memory of the same extents, which do not
/// overlap. A complex dtype does not become a real one but boolean: ArgumentError. Thread-safe.
void convert(const View& from, const View& to);

}  // namespace partita::kernels
