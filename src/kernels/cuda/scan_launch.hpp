// Sums and products along lines in device memory, started by plain functions.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels::cuda {

/// See partita::kernels::ScanPass: `inner` is 1.
struct Scan {
  Dtype dtype = Dtype::f64, from_dtype = Dtype::f64;
  bool product = false;
  std::int64_t lines = 1;
  std::int64_t length = 0;
  const void* from = nullptr;
  void* to = nullptr;
};

/// What a scan wants besides, in device memory: a cudaError_t, and the bytes.
int find_scan_scratch(const Scan& what, std::int64_t& bytes);
/// A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_scan(const Scan& what, void* scratch, void* stream);

/// As load_copy_kernels.
int load_scan_kernels();

}  // namespace partita::kernels::cuda
