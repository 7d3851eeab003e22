// Triangular solves of few right-hand sides in device memory, started by plain functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels::cuda {

/// X = op(T)^-1 X for X [n, columns]. Dtypes: f32, f64, c64, c128; matrices are stored by columns.
struct TriangularSides {
  Dtype dtype = Dtype::f64;
  bool upper = false, transpose = false, conjugate = false, unit_diagonal = false;
  const void* triangle = nullptr;
  std::int64_t leading_triangle = 1;
  std::int64_t n = 0;
  void* sides = nullptr;
  std::int64_t leading = 1;
  int columns = 1;
  void* workspace = nullptr;  ///< triangular_sides_bytes, at a multiple of 16
};

/// More columns are faster with the vendor's library: f64 on an H200 (benchmarks/results/linalg.md).
constexpr std::int64_t most_triangular_sides(std::int64_t n) {
  constexpr std::int64_t most = 128, least = 8, elements = std::int64_t{1} << 20;
  return std::clamp(elements / std::max<std::int64_t>(n, 1), least, most);
}
std::int64_t triangular_sides_bytes(Dtype dtype, std::int64_t n, int columns);
/// Of the current device, which has shared memory enough. A cudaError_t; 0: started. `stream` is a
/// cudaStream_t.
int launch_triangular_sides(const TriangularSides& what, void* stream);

/// As load_copy_kernels.
int load_triangular_kernels();

}  // namespace partita::kernels::cuda
