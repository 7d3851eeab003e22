#include "kernels/cuda/rows.cuh"
#include "kernels/cuda/triangular_solve.cuh"
#include "kernels/cuda/triangular_solve.hpp"

namespace partita::kernels::cuda {
namespace {

/// Of the columns that thread blocks take at once.
std::int64_t group_bytes(Dtype dtype, std::int64_t n, int sides) {
  const std::int64_t known = blocks_of(n) * solve_rows * sides * size_of(dtype);
  return aligned_bytes + (known + aligned_bytes - 1) / aligned_bytes * aligned_bytes;
}

__global__ void set_all_bits(ulonglong2* data, std::int64_t count) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    data[i] = {~0ULL, ~0ULL};
}

/// Of thread blocks that find registers on a multiprocessor; 0: as many as come of it.
template <class T, int Sides>
constexpr int least_blocks = Sides == 1 && sizeof(T) < 16 ? 2 : 0;

/// Groups of columns in turn, so that thread blocks that run at a time read the same rows of the triangle.
template <class T, bool RowsAdjacent, int Sides>
__global__ void __launch_bounds__(solve_threads, (least_blocks<T, Sides>))
    solve_rows_in_order(const LowerSolve<T> what, int groups, std::int64_t bytes_of_group) {
  extern __shared__ __align__(16) char shared_bytes[];
  const int group = static_cast<int>(blockIdx.x) % groups;
  LowerSolve<T> mine = what;
  mine.columns = min(what.columns - group * Sides, Sides);
  mine.sides += group * Sides * what.leading;
  mine.started = reinterpret_cast<unsigned*>(reinterpret_cast<char*>(what.started) + group * bytes_of_group);
  mine.known = reinterpret_cast<RealOf<T>*>(reinterpret_cast<char*>(what.known) + group * bytes_of_group);
  const WholeOrder order{what.n};
  SolvedRows<T, RowsAdjacent, Sides>(mine, *reinterpret_cast<SharedSolve<T, Sides>*>(shared_bytes), order)
      .solve();
}

template <class T, bool RowsAdjacent, int Sides>
int start(const TriangularSides& what, cudaStream_t stream) {
  auto* const workspace = static_cast<char*>(what.workspace);
  LowerSolve<T> lower = lower_of<T>(what, what.n);
  lower.columns = what.columns;
  lower.started = reinterpret_cast<unsigned*>(workspace);
  lower.known = reinterpret_cast<RealOf<T>*>(workspace + aligned_bytes);
  const int groups = groups_of(what.dtype, what.columns);
  solve_rows_in_order<T, RowsAdjacent, Sides>
      <<<static_cast<unsigned>(blocks_of(what.n) * groups), solve_threads, sizeof(SharedSolve<T, Sides>),
         stream>>>(lower, groups, group_bytes(what.dtype, what.n, Sides));
  return cudaGetLastError();
}

template <class T, int Sides>
int start(const TriangularSides& what, cudaStream_t stream) {
  return what.transpose ? start<T, false, Sides>(what, stream) : start<T, true, Sides>(what, stream);
}

template <class T, bool RowsAdjacent, int Sides>
int allow() {
  return load_with_memory(solve_rows_in_order<T, RowsAdjacent, Sides>, sizeof(SharedSolve<T, Sides>));
}

template <class T>
int allow_all() {
  int result = allow<T, true, 1>();
  if (result == cudaSuccess) result = allow<T, false, 1>();
  if (result == cudaSuccess) result = allow<T, true, several_sides<T>>();
  if (result == cudaSuccess) result = allow<T, false, several_sides<T>>();
  return result;
}

}  // namespace

std::int64_t triangular_sides_bytes(Dtype dtype, std::int64_t n, int columns) {
  return groups_of(dtype, columns) * group_bytes(dtype, n, sides_at_once(dtype, columns));
}

int launch_triangular_sides(const TriangularSides& what, void* stream) {
  if (what.n == 0 || what.columns == 0) return cudaSuccess;
  auto* const native = static_cast<cudaStream_t>(stream);
  (void)launch_set_all_bits(what.workspace, triangular_sides_bytes(what.dtype, what.n, what.columns), stream);
  return for_dtype(what.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Number;
    return what.columns == 1 ? start<T, 1>(what, native) : start<T, several_sides<T>>(what, native);
  });
}

int launch_set_all_bits(void* data, std::int64_t bytes, void* stream) {
  const std::int64_t packs = bytes / std::int64_t{16};
  const std::int64_t blocks = std::min<std::int64_t>((packs + threads_per_block - 1) / threads_per_block, 64);
  set_all_bits<<<static_cast<unsigned>(blocks), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<ulonglong2*>(data), packs);
  return cudaGetLastError();
}

int load_triangular_kernels() {
  int result = load(set_all_bits);
  if (result == cudaSuccess) result = allow_all<float>();
  if (result == cudaSuccess) result = allow_all<double>();
  if (result == cudaSuccess) result = allow_all<QrComplex<float>>();
  if (result == cudaSuccess) result = allow_all<QrComplex<double>>();
  return result == cudaSuccess ? load_shared_triangular_kernels() : result;
}

}  // namespace partita::kernels::cuda
