#include "shallow_water/columns.hpp"
#include "shallow_water/tile_kernels.hpp"

namespace shallow_water::cuda {
namespace {

constexpr int threads = 32, warps = 4, rows_ahead = 2;
constexpr unsigned all_threads = ~0U;

/// So many are needed on a processor at a time: registers just suffice.
constexpr int blocks = 3;

int processors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count > 0 ? count : 1;
}

/// About 72 rows, and so many tiles that they fill the device a whole number of times: what a last few would
/// take, all the others would wait for.
std::int64_t tile_rows(std::int64_t rows, std::int64_t across) {
  const std::int64_t at_once = processors() * blocks * warps, tiles = (rows + 71) / 72 * across;
  const std::int64_t turns = (tiles + at_once / 2) / at_once,
                     wanted = (turns > 0 ? turns : 1) * at_once / across;
  const std::int64_t down = wanted > 0 ? wanted : 1, least = 8;
  const std::int64_t each = (rows + down - 1) / down;
  return each > least ? each : least;
}

template <class Told>
__device__ __forceinline__ Told from_east(const Told& own) {
  return own.all([](auto number) { return __shfl_down_sync(all_threads, number, 1); });
}
template <class Told>
__device__ __forceinline__ Told from_west(const Told& own) {
  return own.all([](auto number) { return __shfl_up_sync(all_threads, number, 1); });
}

template <bool midst, class Columns>
__device__ __forceinline__ void make(Columns& columns) {
  columns.template read_row<midst>();
  columns.template make_fluxes<midst>(from_east(columns.row_to_west()), from_west(columns.row_to_east()));
  columns.template make_row<midst>(from_east(columns.fluxes_to_west()), from_west(columns.fluxes_to_east()));
}

template <class T, Where where>
using WarpColumns = Columns<T, where, rows_ahead, threads>;

template <class T, Where where>
__global__ void __launch_bounds__(warps* threads, blocks)
    advance(const __grid_constant__ Part<T> part, const __grid_constant__ Coefficients<T> coefficients,
            const __grid_constant__ Tiling tiling) {
  __shared__ typename WarpColumns<T, where>::Memory memory[warps];
  const auto warp = threadIdx.x / threads;
  const std::int64_t number = std::int64_t{blockIdx.x} * warps + warp;
  if (number >= tiling.count(where)) return;
  WarpColumns<T, where> columns(part, coefficients, tiling.tile(where, number),
                                static_cast<int>(threadIdx.x % threads), memory[warp]);
  while (columns.goes_on()) {
    for (int rows = columns.in_midst(); rows > 0; --rows) make<true>(columns);
    make<false>(columns);
  }
}

}  // namespace

template <class T>
void advance_tiles(const Part<T>& part, const Coefficients<T>& coefficients, Where where, void* stream) {
  using Any = WarpColumns<T, Where::inside>;
  const Tiling tiling(part.rows, part.columns,
                      tile_rows(part.rows, (part.columns + Any::most_columns - 1) / Any::most_columns),
                      Any::most_columns, Any::each);
  const auto count = static_cast<unsigned>((tiling.count(where) + warps - 1) / warps);
  if (count == 0) return;
  const auto handle = static_cast<cudaStream_t>(stream);
  if (where == Where::inside) {
    advance<T, Where::inside><<<count, warps * threads, 0, handle>>>(part, coefficients, tiling);
  } else {
    advance<T, Where::edges><<<count, warps * threads, 0, handle>>>(part, coefficients, tiling);
  }
}

template void advance_tiles(const Part<float>&, const Coefficients<float>&, Where, void*);
template void advance_tiles(const Part<double>&, const Coefficients<double>&, Where, void*);

}  // namespace shallow_water::cuda
