// Searches in sorted elements and counts of elements in bins, in device memory, started by plain functions.
#pragma once

#include "base/sequence_passes.hpp"

namespace partita::kernels::cuda {

/// Each gives a cudaError_t; 0: started. `stream` is a cudaStream_t. Sums of weights are those of any order.
int launch_search(const SearchPass& what, void* stream);
int launch_count(const CountPass& what, void* stream);

/// As load_copy_kernels.
int load_search_kernels();

}  // namespace partita::kernels::cuda
