// Blocks that take the next tile of PlaneOrder whenever they are done with one.
#include "kernels/cuda/line_team.cuh"
#include "kernels/cuda/plane_transform.hpp"

namespace partita::kernels::cuda {
namespace {

template <class Value, int n>
struct PlaneShared {
  LineShared<Value, n> lines;
  LineTargets<n> of_rows, of_columns;
  std::uint32_t turn;
};

template <class Value, int n>
constexpr int blocks_of_plane_tiles = blocks_at_once<n>(sizeof(PlaneShared<Value, n>));

/// Until all rows of a band are written. One thread of a block asks; all of them may read once it has met the
/// others.
__device__ void await_rows(const std::uint32_t* done, std::int64_t rows) {
  constexpr unsigned pause = 20;  // ns
  for (;;) {
    std::uint32_t seen = 0;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(done) : "memory");
    if (seen >= rows) return;
    __nanosleep(pause);
  }
}

/// The last block to come here leaves the counters as they were found.
__device__ void leave(std::uint32_t* counters, std::int64_t count) {
  __threadfence();
  if (atomicAdd(counters + 1, 1U) != gridDim.x - 1) return;
  for (std::int64_t i = 0; i < count; ++i) counters[i] = 0;
}

template <class Value, int n, LineAccess of_rows, LineAccess of_columns>
__global__ void __launch_bounds__(LineFactors<n>::threads, blocks_of_plane_tiles<Value, n>)
    transform_planes(const __grid_constant__ PlaneTransform what, const __grid_constant__ PlaneOrder order,
                     WideAccess wide_rows, WideAccess wide_columns) {
  extern __shared__ __align__(16) char memory[];
  auto& shared = *reinterpret_cast<PlaneShared<Value, n>*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  using Rows = BlockTeam<Value, n, of_rows>;
  using Columns = BlockTeam<Value, n, of_columns>;
  const auto rows = [&] {
    return typename Rows::Thread(what.rows, shared.lines, shared.of_rows, thread, wide_rows);
  };
  const auto columns = [&] {
    return typename Columns::Thread(what.columns, shared.lines, shared.of_columns, thread, wide_columns);
  };
  rows().prepare();
  columns().prepare();
  std::uint32_t* const done = what.counters + 2;
  const auto take_turn = [&] {
    if (thread == 0) shared.turn = atomicAdd(what.counters, 1U);
  };
  take_turn();
  for (;;) {
    __syncthreads();
    const std::uint32_t turn = shared.turn;
    if (turn >= order.tiles()) break;
    const PlaneOrder::Tile tile = order.at(turn);
    const std::int64_t band = order.band_of(tile);
    if (thread == 0 && tile.column) await_rows(done + band, order.rows_of_band(band));
    __syncthreads();
    take_turn();  // long before it is asked for
    if (tile.column) {
      Columns team{columns(), {}};
      transform_tile<n>(team, tile.number);
    } else {
      Rows team{rows(), {}};
      transform_tile<n>(team, tile.number);
      __syncthreads();
      if (thread != 0) continue;
      __threadfence();
      atomicAdd(done + band, 1U);
    }
  }
  if (thread == 0) leave(what.counters, order.bands() + 2);
}

/// visit(kernel) for each of them: with rows of reals or not, with whole columns or not.
template <class Value, int n, class Visit>
void for_kernels_of_planes(const Visit& visit) {
  visit(transform_planes<Value, n, LineAccess::any, LineAccess::any>, false, false);
  visit(transform_planes<Value, n, LineAccess::any, LineAccess::whole>, false, true);
  if constexpr (transforms_planes_of(n, true)) {
    visit(transform_planes<Value, n, LineAccess::reals, LineAccess::any>, true, false);
    visit(transform_planes<Value, n, LineAccess::reals, LineAccess::whole>, true, true);
  }
}

template <class Value, int n>
int launch_planes(const PlaneTransform& what, cudaStream_t stream) {
  int multiprocessors = 0;
  if (const int error = multiprocessors_of_current_device(multiprocessors); error != cudaSuccess)
    return error;
  const std::int64_t planes = planes_of(what);
  if (planes == 0) return cudaSuccess;
  const std::int64_t row_tiles = tiles_of<Value, n>(what.rows) / planes,
                     column_tiles = tiles_of<Value, n>(what.columns) / planes;
  const std::int64_t tiles = planes * (row_tiles + column_tiles);
  if (tiles == 0) return cudaSuccess;
  if (tiles > INT32_MAX) return cudaErrorInvalidValue;
  const std::int64_t room = std::int64_t{multiprocessors} * blocks_of_plane_tiles<Value, n>;
  const std::int64_t blocks = blocks_of_planes(tiles, room);
  const bool short_reals = what.rows.of_reals && what.rows.single;
  const PlaneOrder order(planes, row_tiles, column_tiles,
                         rows_ahead(planes * row_tiles, blocks, short_reals));
  const WideAccess wide = wide_access(what.columns);
  for_kernels_of_planes<Value, n>([&](auto* kernel, bool of_reals, bool whole) {
    if (of_reals != what.rows.of_reals || whole != wide.whole) return;
    kernel<<<static_cast<unsigned>(blocks), LineFactors<n>::threads, sizeof(PlaneShared<Value, n>), stream>>>(
        what, order, wide_access(what.rows), wide);
  });
  return cudaGetLastError();
}

template <class Value, int n>
int load_planes() {
  int result = cudaSuccess;
  for_kernels_of_planes<Value, n>([&](auto* kernel, bool, bool) {
    if (result == cudaSuccess) result = load_with_shared_bytes(kernel, sizeof(PlaneShared<Value, n>));
  });
  return result;
}

}  // namespace

int launch_plane_transform(const PlaneTransform& what, void* stream) {
  if (!transforms_planes_of(what.rows.length, what.rows.of_reals)) return cudaErrorInvalidValue;
  return with_lines<PlaneTransform::longest>(what.rows.length, what.rows.single, [&](auto kind) {
    using Kind = decltype(kind);
    return launch_planes<typename Kind::Value, Kind::length>(what, static_cast<cudaStream_t>(stream));
  });
}

bool has_plane_transform(std::int64_t length, bool single, bool of_reals) {
  if (!transforms_planes_of(length, of_reals)) return false;
  return with_lines<PlaneTransform::longest>(length, single, [](auto kind) -> int {
           using Kind = decltype(kind);
           return may_share(sizeof(PlaneShared<typename Kind::Value, Kind::length>)) ? 1 : 0;
         }) != 0;
}

int load_plane_transform_kernels() {
  return for_all_lines<PlaneTransform::longest>([](auto kind) {
    using Kind = decltype(kind);
    return load_planes<typename Kind::Value, Kind::length>();
  });
}

}  // namespace partita::kernels::cuda
