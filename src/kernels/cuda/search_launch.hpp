// Searches in sorted elements and counts of elements in bins, in device memory, started by plain functions.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels::cuda {

/// See partita::kernels::SearchPass.
struct Search {
  Dtype dtype = Dtype::f64;
  std::int64_t sorted_count = 0;
  const void* sorted = nullptr;
  std::int64_t count = 0;
  const void* values = nullptr;
  bool after = false;
  std::int64_t* places = nullptr;
  bool* contained = nullptr;
};

/// See partita::kernels::CountPass; sums of weights are those of any order.
struct Count {
  Dtype dtype = Dtype::f64;
  std::int64_t count = 0;
  const void* from = nullptr;
  std::int64_t bins = 0;
  Dtype edge_dtype = Dtype::f64;
  const void* edges = nullptr;
  const double* weights = nullptr;
  void* to = nullptr;
};

/// Each gives a cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_search(const Search& what, void* stream);
int launch_count(const Count& what, void* stream);

/// As load_copy_kernels.
int load_search_kernels();

}  // namespace partita::kernels::cuda
