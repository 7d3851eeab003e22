// Sums of real numbers, or of squares, in rows or columns, reduced in double precision as fold.cu does, at
// the speed of memory: 16 bytes per access where layouts allow. Which thread takes what depends on the counts
// alone: the same bits in every run.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/fold_lines.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

enum Part { to, a };
constexpr int warp = 32, warps = threads_per_block / warp;
constexpr int in_flight = 4;  // loads of a thread
/// Of a thread: below it another block costs more than it brings.
constexpr std::int64_t least_loads = 2 * in_flight;

/// Numbers side by side, with one access.
template <class T, int width>
struct alignas(width * sizeof(T)) Pack {
  T items[width];
};

__device__ double widened(double x) {
  return x;
}
__device__ double widened(float x) {
  return x;
}
__device__ double widened(__half x) {
  return __half2float(x);
}
__device__ double widened(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

/// What is added of each number: itself, or the square of `factor` times it.
struct Addend {
  bool squared = false;
  double factor = 1;
  __device__ double operator()(double x) const {
    if (!squared) return x;
    x *= factor;
    return x * x;
  }
};

template <class T, int width>
__device__ void add(const Pack<T, width>& pack, const Addend& of, double (&sums)[width]) {
#pragma unroll
  for (int v = 0; v < width; ++v) sums[v] += of(widened(pack.items[v]));
}

/// sums[v] += `of` the packs first, first + step, ... below end, each `apart` packs behind the one before it.
template <class T, int width>
__device__ void add_packs(const Pack<T, width>* from, std::int64_t first, std::int64_t end, std::int64_t step,
                          std::int64_t apart, const Addend& of, double (&sums)[width]) {
  std::int64_t i = first;
  for (; i + (in_flight - 1) * step < end; i += in_flight * step) {
    Pack<T, width> loaded[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) loaded[u] = from[(i + u * step) * apart];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) add(loaded[u], of, sums);
  }
  for (; i < end; i += step) add(from[i * apart], of, sums);
}

/// Of each line a part by each of `chunks` blocks or warps; `to` of a chunk is `apart` numbers behind that of
/// the one before it.
struct Dealt {
  std::int64_t lines = 0, length = 0;  // in packs where they are adjacent
  std::int64_t line_step = 0;          // from one line to the next, or from one row to the next, in packs
  std::int64_t chunk = 0, chunks = 1;  // of the length
  double* to = nullptr;
  std::int64_t to_step = 1, apart = 0;
  Addend of;
};

/// A thread a pack of columns, a warp side by side, the warps of a block row after row.
template <class T, int width>
__global__ void __launch_bounds__(threads_per_block)
    sum_columns(const __grid_constant__ Dealt deal, const Pack<T, width>* from) {
  __shared__ double shared[warps][warp * width];
  const int x = threadIdx.x % warp, y = threadIdx.x / warp;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * warp;
  for (std::int64_t c = blockIdx.y; c < deal.chunks; c += gridDim.y) {
    double sums[width] = {};
    const std::int64_t begin = c * deal.chunk;
    const std::int64_t end = begin + deal.chunk < deal.length ? begin + deal.chunk : deal.length;
    if (first + x < deal.lines)
      add_packs(from + first + x, begin + y, end, warps, deal.line_step, deal.of, sums);
#pragma unroll
    for (int v = 0; v < width; ++v) shared[y][x * width + v] = sums[v];
    __syncthreads();
    for (int column = threadIdx.x; column < warp * width; column += threads_per_block) {
      const std::int64_t line = first * width + column;
      double sum = 0;
      for (int w = 0; w < warps; ++w) sum += shared[w][column];
      if (line < deal.lines * width) deal.to[line * deal.to_step + c * deal.apart] = sum;
    }
    __syncthreads();
  }
}

/// A warp a chunk of a row.
template <class T, int width>
__global__ void __launch_bounds__(threads_per_block)
    sum_rows(const __grid_constant__ Dealt deal, const Pack<T, width>* from) {
  const int lane = threadIdx.x % warp;
  const std::int64_t tasks = deal.lines * deal.chunks;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * warps;
  for (std::int64_t task = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / warp; task < tasks;
       task += step) {
    const std::int64_t c = task / deal.lines, line = task - c * deal.lines;
    const std::int64_t begin = c * deal.chunk;
    const std::int64_t end = begin + deal.chunk < deal.length ? begin + deal.chunk : deal.length;
    double sums[width] = {};
    add_packs(from + line * deal.line_step, begin + lane, end, warp, 1, deal.of, sums);
    double sum = sums[0];
#pragma unroll
    for (int v = 1; v < width; ++v) sum += sums[v];
    for (int half = warp / 2; half > 0; half /= 2) sum += __shfl_xor_sync(~0U, sum, half);
    if (lane == 0) deal.to[line * deal.to_step + c * deal.apart] = sum;
  }
}

std::int64_t rounded_up(std::int64_t x, std::int64_t y) {
  return (x + y - 1) / y;
}

/// Parts of the length, so that there are some `wanted` of them and the partial sums have room.
void cut(Dealt& deal, std::int64_t wanted, std::int64_t least, std::int64_t sums) {
  const std::int64_t useful = std::max<std::int64_t>(deal.length / least, 1);
  const std::int64_t room = std::max<std::int64_t>(fold_scratch_bytes / 8 / sums, 1);
  deal.chunk = std::max<std::int64_t>(rounded_up(deal.length, std::min({wanted, useful, room})), 1);
  deal.chunks = std::max<std::int64_t>(rounded_up(deal.length, deal.chunk), 1);
}

template <class T, int width>
int start_columns(const Dealt& deal, const void* from, cudaStream_t stream) {
  constexpr std::int64_t most = 65535;
  const dim3 blocks(static_cast<unsigned>(rounded_up(deal.lines, warp)),
                    static_cast<unsigned>(std::min(deal.chunks, most)));
  sum_columns<T, width>
      <<<blocks, threads_per_block, 0, stream>>>(deal, static_cast<const Pack<T, width>*>(from));
  return cudaGetLastError();
}

template <class T, int width>
int start_rows(const Dealt& deal, const void* from, cudaStream_t stream) {
  const std::int64_t wanted = rounded_up(deal.lines * deal.chunks, warps);
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(wanted, 4 * most_blocks));
  sum_rows<T, width>
      <<<blocks, threads_per_block, 0, stream>>>(deal, static_cast<const Pack<T, width>*>(from));
  return cudaGetLastError();
}

/// The partial sums of `first`, which are in the scratch, into `sums`.
int add_chunks(const Dealt& first, std::int64_t lines, double* sums, std::int64_t step, cudaStream_t stream) {
  Dealt second;
  second.lines = second.line_step = lines;
  second.length = second.chunk = first.chunks;
  second.to = sums;
  second.to_step = step;
  return start_columns<double, 1>(second, first.to, stream);
}

struct Lines {
  std::int64_t kept = 1, over = 1;
  std::int64_t kept_step = 0, over_step = 0, to_step = 1;
  bool columns() const { return kept_step == 1; }
};

template <class T, int width>
int sum_lines(const Lines& lines, const Fold& what, void* scratch, cudaStream_t stream) {
  Dealt deal;
  auto* const sums = static_cast<double*>(what.data[to]);
  deal.of = {what.folded == Folded::square, what.factor};
  deal.lines = lines.columns() ? lines.kept / width : lines.kept;
  deal.length = lines.columns() ? lines.over : lines.over / width;
  deal.line_step = (lines.columns() ? lines.over_step : lines.kept_step) / width;
  if (lines.columns()) {
    cut(deal, rounded_up(most_blocks, rounded_up(deal.lines, warp)), least_loads * warps, lines.kept);
  } else {
    cut(deal, rounded_up(std::int64_t{most_blocks} * warps, deal.lines), least_loads * warp, lines.kept);
  }
  const bool whole = deal.chunks == 1;
  deal.to = whole ? sums : static_cast<double*>(scratch);
  deal.to_step = whole ? lines.to_step : 1;
  deal.apart = lines.kept;
  const int result = lines.columns() ? start_columns<T, width>(deal, what.data[a], stream)
                                     : start_rows<T, width>(deal, what.data[a], stream);
  if (whole || result != cudaSuccess) return result;
  return add_chunks(deal, lines.kept, sums, lines.to_step, stream);
}

/// A loop's step in a part; of no loop, that it is as one likes.
std::int64_t step_of(const ElementLoops& loops, int part, std::int64_t otherwise) {
  return loops.loops == 0 ? otherwise : loops.strides[0][part];
}

Lines lines_of(const Fold& what) {
  Lines lines;
  if (what.kept.loops > 0) lines.kept = what.kept.counts[0];
  if (what.over.loops > 0) lines.over = what.over.counts[0];
  lines.over_step = step_of(what.over, a, lines.kept);
  lines.kept_step = step_of(what.kept, a, lines.over);
  lines.to_step = step_of(what.kept, to, 1);
  if (is_complex(what.dtype)) {  // twice as many real numbers
    lines.over *= 2;
    lines.kept_step *= 2;
  }
  return lines;
}

/// In packs of 16 bytes where the layouts allow.
template <class T>
int sum_of(const Fold& what, void* scratch, cudaStream_t stream) {
  constexpr int width = 16 / sizeof(T);
  const Lines lines = lines_of(what);
  const std::int64_t side_by_side = lines.columns() ? lines.kept : lines.over;
  const std::int64_t step = lines.columns() ? lines.over_step : lines.kept_step;
  const bool in_packs =
      (side_by_side | step) % width == 0 && reinterpret_cast<std::uintptr_t>(what.data[a]) % 16 == 0;
  return in_packs ? sum_lines<T, width>(lines, what, scratch, stream)
                  : sum_lines<T, 1>(lines, what, scratch, stream);
}

template <class T>
int load_of() {
  constexpr int width = 16 / sizeof(T);
  return load(sum_columns<T, width>, sum_columns<T, 1>, sum_rows<T, width>, sum_rows<T, 1>);
}

}  // namespace

bool folds_lines(const Fold& what) {
  const bool squares = what.folded == Folded::square, complex = is_complex(what.dtype);
  const bool known = what.dtype == Dtype::f16 || what.dtype == Dtype::bf16 || what.dtype == Dtype::f32 ||
                     what.dtype == Dtype::f64 || (complex && squares);
  if (!known || what.joined != Dtype::f64 || what.reduction != Reduction::sum ||
      !(squares || what.folded == Folded::value) || what.kept.loops > 1 || what.over.loops > 1)
    return false;
  const Lines lines = lines_of(what);
  if (lines.kept_step < 0 || lines.over_step < 0) return false;
  return lines.columns() ? lines.kept >= warp : lines.over_step == 1 && lines.over >= warp;
}

int launch_fold_lines(const Fold& what, void* scratch, void* stream) {
  const auto native = static_cast<cudaStream_t>(stream);
  switch (what.dtype) {
    case Dtype::f16:
      return sum_of<__half>(what, scratch, native);
    case Dtype::bf16:
      return sum_of<__nv_bfloat16>(what, scratch, native);
    case Dtype::f32:
    case Dtype::c64:
      return sum_of<float>(what, scratch, native);
    default:
      return sum_of<double>(what, scratch, native);
  }
}

int load_fold_lines() {
  for (const int result :
       {load_of<__half>(), load_of<__nv_bfloat16>(), load_of<float>(), load_of<double>()}) {
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
