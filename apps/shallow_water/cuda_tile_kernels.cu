#include "shallow_water/column.hpp"
#include "shallow_water/tile_kernels.hpp"

namespace shallow_water::cuda {
namespace {

constexpr int threads = 128;

/// So many blocks are wanted on a processor at a time: registers just suffice.
template <class T>
constexpr int blocks = sizeof(T) == sizeof(float) ? 8 : 4;

int processors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count > 0 ? count : 1;
}

/// About 48 rows, and so many tiles that they fill the device a whole number of times: what a last few would
/// take, all the others would wait for.
template <class T>
std::int64_t tile_rows(std::int64_t rows, std::int64_t across) {
  const std::int64_t at_once = processors() * blocks<T>, tiles = (rows + 47) / 48 * across;
  const std::int64_t turns = (tiles + at_once / 2) / at_once,
                     wanted = (turns > 0 ? turns : 1) * at_once / across;
  const std::int64_t down = wanted > 0 ? wanted : 1, least = 8;
  const std::int64_t each = (rows + down - 1) / down;
  return each > least ? each : least;
}

template <bool midst, class T>
__device__ __forceinline__ void make(Column<T>& column, Shared<T, threads>& shared) {
  column.template read_row<midst>(shared);
  __syncthreads();
  column.template make_fluxes<midst>(shared);
  __syncthreads();
  column.template make_row<midst>(shared);
}

template <class T>
__global__ void __launch_bounds__(threads, blocks<T>)
    advance(const __grid_constant__ Part<T> part, const __grid_constant__ Coefficients<T> coefficients,
            const __grid_constant__ Tiling tiling, Where where) {
  __shared__ Shared<T, threads> shared;
  Column<T> column(part, coefficients, tiling.tile(where, blockIdx.x), static_cast<int>(threadIdx.x));
  while (column.goes_on()) {
    column.is_in_midst() ? make<true>(column, shared) : make<false>(column, shared);
  }
}

}  // namespace

template <class T>
void advance_tiles(const Part<T>& part, const Coefficients<T>& coefficients, Where where, void* stream) {
  constexpr std::int64_t columns = threads - columns_beside;
  const Tiling tiling(part.rows, part.columns,
                      tile_rows<T>(part.rows, (part.columns + columns - 1) / columns), columns);
  const auto tiles = static_cast<unsigned>(tiling.count(where));
  if (tiles == 0) return;
  advance<<<tiles, threads, 0, static_cast<cudaStream_t>(stream)>>>(part, coefficients, tiling, where);
}

template void advance_tiles(const Part<float>&, const Coefficients<float>&, Where, void*);
template void advance_tiles(const Part<double>&, const Coefficients<double>&, Where, void*);

}  // namespace shallow_water::cuda
