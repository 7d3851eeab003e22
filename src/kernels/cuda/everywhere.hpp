// Code that kernels and tests without a device run alike.
#pragma once

#include <cstddef>

#include "base/everywhere.hpp"

#ifdef __CUDA_ARCH__
#define PARTITA_UNROLLED _Pragma("unroll")
#else
#define PARTITA_UNROLLED
#endif

namespace partita::kernels::cuda {

template <class Item, int count>
using Several = Item[static_cast<std::size_t>(count)];

}  // namespace partita::kernels::cuda
