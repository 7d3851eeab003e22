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

/// Devices that solve for one X together, and its columns.
inline constexpr int most_sharers = 16, most_shared_sides = 16;

/// The part of one device in the solve of several, each of which makes the same call. The columns of T are
/// distributed over them cyclically, `width` at a time, and the rows of X likewise.
struct SharedSides {
  TriangularSides own;          ///< its columns and rows, of n; without workspace
  const void* given = nullptr;  ///< [n, columns], what is solved for; null: it is in `own.sides`
  std::int64_t leading_given = 1;
  int rank = 0, ranks = 1;
  std::int64_t width = 64;  ///< a multiple of 64
  /// By rank: shared_sides_bytes in its memory, at a multiple of 256, which launch_set_all_bits has set
  /// before any device makes the call.
  void* words[most_sharers] = {};
  const std::uint64_t* given_up = nullptr;  ///< in this device's memory; once it is not 0, waits end
  /// Thread blocks that find room at a time, as they wait for those of other devices.
  unsigned most_blocks = 1;
};

std::int64_t shared_sides_bytes(Dtype dtype, std::int64_t n, int columns, int ranks);
/// As launch_triangular_sides.
int launch_shared_sides(const SharedSides& what, void* stream);
/// `bytes` is a multiple of 16.
int launch_set_all_bits(void* data, std::int64_t bytes, void* stream);

/// As load_copy_kernels.
int load_triangular_kernels();

}  // namespace partita::kernels::cuda
