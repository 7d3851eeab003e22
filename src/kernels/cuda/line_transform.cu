// Blocks that stay until all tiles are done; see line_tiles.hpp.
#include "kernels/cuda/line_team.cuh"

namespace partita::kernels::cuda {
namespace {

template <class Value, int n>
struct TileShared {
  LineShared<Value, n> lines;
  LineTargets<n> targets;
};

template <class Value, int n>
constexpr int blocks_of_tiles = blocks_at_once<n>(sizeof(TileShared<Value, n>));

template <class Value, int n, LineAccess access>
__global__ void __launch_bounds__(LineFactors<n>::threads, blocks_of_tiles<Value, n>)
    transform_lines(const __grid_constant__ LineTransform what, std::int64_t tiles, WideAccess wide) {
  extern __shared__ __align__(16) char memory[];
  auto& shared = *reinterpret_cast<TileShared<Value, n>*>(memory);
  BlockTeam<Value, n, access> team{{what, shared.lines, shared.targets, static_cast<int>(threadIdx.x), wide},
                                   {}};
  transform_tiles<n>(team, blockIdx.x, gridDim.x, tiles);
}

template <class Value, int n>
int launch(const LineTransform& what, cudaStream_t stream) {
  int multiprocessors = 0;
  if (const int error = multiprocessors_of_current_device(multiprocessors); error != cudaSuccess)
    return error;
  const std::int64_t tiles = tiles_of<Value, n>(what);
  const std::int64_t room = static_cast<std::int64_t>(multiprocessors) * blocks_of_tiles<Value, n>;
  if (tiles == 0) return cudaSuccess;
  const auto blocks =
      static_cast<unsigned>(blocks_of_lines(what, tiles, tile_bytes<Value, n>(), room, multiprocessors));
  const WideAccess wide = wide_access(what);
  auto* const kernel =
      wide.whole ? transform_lines<Value, n, LineAccess::whole> : transform_lines<Value, n, LineAccess::any>;
  kernel<<<blocks, LineFactors<n>::threads, sizeof(TileShared<Value, n>), stream>>>(what, tiles, wide);
  return cudaGetLastError();
}

template <class Value, int n>
int load_both() {
  constexpr std::size_t bytes = sizeof(TileShared<Value, n>);
  const int whole = load_with_shared_bytes(transform_lines<Value, n, LineAccess::whole>, bytes);
  return whole != cudaSuccess ? whole
                              : load_with_shared_bytes(transform_lines<Value, n, LineAccess::any>, bytes);
}

}  // namespace

int launch_line_transform(const LineTransform& what, void* stream) {
  if (!transforms_lines_of(what.length) || what.of_reals) return cudaErrorInvalidValue;
  return with_lines<LineTransform::longest>(what.length, what.single, [&](auto kind) {
    using Kind = decltype(kind);
    return launch<typename Kind::Value, Kind::length>(what, static_cast<cudaStream_t>(stream));
  });
}

bool has_line_transform(std::int64_t length, bool single) {
  if (!transforms_lines_of(length)) return false;
  return with_lines<LineTransform::longest>(length, single, [](auto kind) -> int {
           using Kind = decltype(kind);
           return may_share(sizeof(TileShared<typename Kind::Value, Kind::length>)) ? 1 : 0;
         }) != 0;
}

int load_line_transform_kernels() {
  return for_all_lines<LineTransform::longest>([](auto kind) {
    using Kind = decltype(kind);
    return load_both<typename Kind::Value, Kind::length>();
  });
}

}  // namespace partita::kernels::cuda
