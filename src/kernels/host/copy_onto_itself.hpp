// Collectives in place: what is copied onto itself need not be.
#pragma once

#include "kernels/host/copy.hpp"

namespace partita::kernels {

/// Whether each element would be copied to where it is.
bool is_onto_itself(const StridedCopy& nest, const void* from, const void* to);

}  // namespace partita::kernels
