// Selection among elements in device memory, started by plain functions.
#pragma once

#include <cstdint>

namespace partita::kernels::cuda {

/// See partita::kernels::Outside.
enum class Outside : std::uint8_t { none, report, wrap, clip };

/// See partita::kernels::GatherPass; `reported` is in device memory.
struct Gather {
  std::int64_t element_bytes = 0, width = 1, outer = 1, count = 0, extent = 0;
  bool own = false;
  Outside outside = Outside::none;
  const void* from = nullptr;
  const std::int64_t* indices = nullptr;
  void* to = nullptr;
  std::int64_t* reported = nullptr;
};

/// A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_gather(const Gather& what, void* stream);

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
