// Selection among elements in device memory, started by plain functions.
#pragma once

#include <cstdint>

#include "base/sequence_passes.hpp"

namespace partita::kernels::cuda {

/// A cudaError_t; 0: started. `reported` is in device memory; `stream` is a cudaStream_t.
int launch_gather(const GatherPass& what, void* stream);

/// `found` is in device memory. What it wants besides, there, too: a cudaError_t, and the bytes.
int find_true_scratch(const TruePass& what, std::int64_t& bytes);
int launch_true(const TruePass& what, void* scratch, void* stream);

/// As load_copy_kernels.
int load_selection_kernels();

}  // namespace partita::kernels::cuda
