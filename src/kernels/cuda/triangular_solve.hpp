// Triangular solves of few right-hand sides in device memory, started by plain functions.
#pragma once

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

/// More columns are left to the vendor's library: on an H200 cuBLAS takes 20 ms for 16 columns of an LU
/// factorization of 8192, and hardly more for a few times as many.
inline constexpr int most_triangular_sides = 64;
std::int64_t triangular_sides_bytes(Dtype dtype, std::int64_t n, int columns);
/// Of the current device, which has shared memory enough. A cudaError_t; 0: started. `stream` is a
/// cudaStream_t.
int launch_triangular_sides(const TriangularSides& what, void* stream);

/// As load_copy_kernels.
int load_triangular_kernels();

}  // namespace partita::kernels::cuda
