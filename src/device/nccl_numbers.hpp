// Dtypes and reductions in NCCL's terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>

#include "device/nccl_library.hpp"

namespace partita {

struct NcclReducing {
  std::size_t count;
  NcclType type;
  NcclOperation operation;
};

/// Whether NCCL's results are ours, but for the order of floating-point sums.
bool nccl_reduces(Dtype dtype, Reduction reduction);

/// Of `count` elements. `nccl_reduces` says that there is such a thing.
NcclReducing nccl_reducing(std::int64_t count, Dtype dtype, Reduction reduction);

}  // namespace partita
