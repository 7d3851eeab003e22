// Selection among elements in device memory, started by plain functions.
#pragma once

#include <cstdint>

namespace partita::kernels::cuda {

/// See partita::kernels::GatherPass. A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_gather(std::int64_t row_bytes, std::int64_t count, const void* from, const std::int64_t* rows,
                  void* to, void* stream);

/// See partita::kernels::TruePass; `found` is in device memory.
struct True {
  std::int64_t count = 0;
  const bool* from = nullptr;
  std::int64_t* to = nullptr;
  std::int64_t* found = nullptr;
};

/// What it wants besides, in device memory: a cudaError_t, and the bytes.
int find_true_scratch(const True& what, std::int64_t& bytes);
int launch_true(const True& what, void* scratch, void* stream);

/// As load_copy_kernels.
int load_selection_kernels();

}  // namespace partita::kernels::cuda
