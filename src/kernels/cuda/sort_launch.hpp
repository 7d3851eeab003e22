// Sorting of a sequence in device memory, started by plain functions.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels::cuda {

/// See partita::kernels::SortPass.
struct Sort {
  Dtype dtype = Dtype::f64;
  bool descending = false;
  std::int64_t count = 0;
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t* order = nullptr;
};

/// What a sort wants besides, in device memory: a cudaError_t, and the bytes.
int find_sort_scratch(const Sort& what, std::int64_t& bytes);
/// A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_sort(const Sort& what, void* scratch, void* stream);

/// As load_copy_kernels.
int load_sort_kernels();

}  // namespace partita::kernels::cuda
