#include "shallow_water/column.hpp"
#include "shallow_water/tile_kernels.hpp"

namespace shallow_water::cuda {
namespace {

constexpr int threads = 256;
constexpr std::int64_t tile_rows = 48;

/// So many blocks are wanted on a processor that registers just suffice.
template <class T>
constexpr int blocks = sizeof(T) == sizeof(float) ? 4 : 2;

template <class T>
__global__ void __launch_bounds__(threads, blocks<T>)
    advance(const __grid_constant__ Part<T> part, const __grid_constant__ Coefficients<T> coefficients,
            const __grid_constant__ Tiling tiling, Where where) {
  __shared__ Shared<T, threads> shared;
  Column<T> column(part, coefficients, tiling.tile(where, blockIdx.x), static_cast<int>(threadIdx.x));
  while (column.goes_on()) {
    column.read_row(shared);
    __syncthreads();
    column.make_fluxes(shared);
    __syncthreads();
    column.make_row(shared);
  }
}

}  // namespace

template <class T>
void advance_tiles(const Part<T>& part, const Coefficients<T>& coefficients, Where where, void* stream) {
  const Tiling tiling(part.rows, part.columns, tile_rows, threads - columns_beside);
  const auto tiles = static_cast<unsigned>(tiling.count(where));
  if (tiles == 0) return;
  advance<<<tiles, threads, 0, static_cast<cudaStream_t>(stream)>>>(part, coefficients, tiling, where);
}

template void advance_tiles(const Part<float>&, const Coefficients<float>&, Where, void*);
template void advance_tiles(const Part<double>&, const Coefficients<double>&, Where, void*);

}  // namespace shallow_water::cuda
