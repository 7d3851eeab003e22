// The first largest or smallest elements of lines, with the rules of kernels/host/places.cpp: groups of
// threads compare the elements of a line, and where there are few lines, of a part of it; a second start of
// the kernel compares the parts' best ones.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/fold_rules.cuh"
#include "kernels/cuda/joining.cuh"
#include "kernels/cuda/places_launch.hpp"
#include "kernels/cuda/rounds.hpp"

namespace partita::kernels::cuda {
namespace {

enum Part { to, a };
constexpr int loads_at_once = 4;  // of 16 bytes

/// A place below 0: none yet.
template <class W>
struct Best {
  W value{};
  std::int64_t place = -1;

  __device__ void join(W x, std::int64_t at, bool smallest) {
    if (at < 0) return;
    if (place >= 0) {
      const bool x_is_nan = x != x, is_nan = value != value, first = at < place;
      if (x_is_nan || is_nan) {
        if (!x_is_nan || (is_nan && !first)) return;
      } else if (x == value ? !first : smallest ? x > value : x < value) {
        return;
      }
    }
    value = x;
    place = at;
  }
};

/// Of the elements first, first + step, ... below end of a line: several are loaded before they are compared.
template <class T>
__device__ auto best_of_line(const T* line, std::int64_t stride, std::int64_t first, std::int64_t end,
                             std::int64_t step, bool smallest) {
  constexpr int in_flight = 8;
  Best<typename Plain<T>::type> best;
  if (first >= end) return best;
  best.join(plain(line[first * stride]), first, smallest);
  const auto follow = [&](T element, std::int64_t at) {
    const auto x = plain(element);
    if ((smallest ? x < best.value : x > best.value) || (x != x && best.value == best.value)) {
      best.value = x;
      best.place = at;
    }
  };
  std::int64_t r = first + step;
  for (; r + (in_flight - 1) * step < end; r += in_flight * step) {
    T loaded[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) loaded[u] = line[(r + u * step) * stride];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) follow(loaded[u], r + u * step);
  }
  for (; r < end; r += step) follow(line[r * stride], r);
  return best;
}

/// Whether x is the better one of two elements, of which none is the first: a NaN is, of a number.
template <bool smallest, class W>
__device__ bool is_better(W x, W than) {
  return (smallest ? x < than : x > than) || (x != x && than == than);
}

/// Of the elements from begin on and below end of a line whose elements are adjacent, a share of this thread
/// among `lanes`: 16 bytes at a time. A place is looked for only in those 16 bytes that have a better
/// element.
template <bool smallest, class T>
__device__ auto best_of_run(const T* line, std::int64_t begin, std::int64_t end, unsigned lane,
                            unsigned lanes) {
  using W = typename Plain<T>::type;
  using Pack = Together<T, 16>;
  constexpr int width = sizeof(Pack) / sizeof(T), in_flight = loads_at_once;
  Best<W> best;
  const auto past = reinterpret_cast<std::uintptr_t>(line + begin) % sizeof(Pack);
  const std::int64_t aligned =
      begin + static_cast<std::int64_t>((sizeof(Pack) - past) % sizeof(Pack) / sizeof(T));
  const std::int64_t first = aligned < end ? aligned : end, packs = (end - first) / width;
  for (std::int64_t r = begin + lane; r < first; r += lanes) best.join(plain(line[r]), r, smallest);
  const auto* const from = reinterpret_cast<const Pack*>(line + first);
  const auto follow = [&](const Pack& pack, std::int64_t at) {
    W top = plain(pack.elements[0]);
#pragma unroll
    for (int v = 1; v < width; ++v) {
      const W x = plain(pack.elements[v]);
      top = is_better<smallest>(x, top) ? x : top;
    }
    if (best.place >= 0 && !is_better<smallest>(top, best.value)) return;
    best.value = top;
#pragma unroll
    for (int v = width - 1; v >= 0; --v) {
      const W x = plain(pack.elements[v]);
      if (x == top || (x != x && top != top)) best.place = first + at * width + v;
    }
  };
  std::int64_t i = lane;
  for (; i + (in_flight - 1) * std::int64_t{lanes} < packs; i += in_flight * std::int64_t{lanes}) {
    Pack loaded[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) loaded[u] = from[i + u * std::int64_t{lanes}];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) follow(loaded[u], i + u * std::int64_t{lanes});
  }
  for (; i < packs; i += lanes) follow(from[i], i);
  for (std::int64_t r = first + packs * width + lane; r < end; r += lanes)
    best.join(plain(line[r]), r, smallest);
  return best;
}

/// `candidates`: [kept][over] places that are compared; null: all elements are.
template <class T>
__global__ void __launch_bounds__(threads_per_block)
    find_places(const __grid_constant__ Places what, const __grid_constant__ ChunkDeal deal,
                const std::int64_t* candidates) {
  using W = typename Plain<T>::type;
  __shared__ W values[threads_per_block];
  __shared__ std::int64_t places[threads_per_block];
  const auto* const elements = static_cast<const T*>(what.data[a]);
  const unsigned lane = threadIdx.x % deal.lanes;
  const std::int64_t groups = blockDim.x / deal.lanes, tasks = deal.tasks();
  for (std::int64_t first = blockIdx.x * groups; first < tasks; first += gridDim.x * groups) {
    const std::int64_t task = first + threadIdx.x / deal.lanes;
    const std::int64_t chunk = task / deal.kept, kept = task - chunk * deal.kept;
    std::int64_t at[3] = {};
    Best<W> best;
    if (task < tasks) {
      move_to(what.kept, tasks <= narrow_numbers, kept, at);
      const std::int64_t begin = chunk * deal.chunk, end = deal.end(begin);
      const T* const line = elements + at[a];
      const bool in_order = what.over.loops <= 1 && candidates == nullptr;
      if (in_order && deal.lanes > 1 && what.over.loops == 1 && what.over.strides[0][a] == 1) {
        best = what.smallest ? best_of_run<true>(line, begin, end, lane, deal.lanes)
                             : best_of_run<false>(line, begin, end, lane, deal.lanes);
      } else if (in_order) {
        best = best_of_line(line, what.over.loops == 0 ? 0 : what.over.strides[0][a], begin + lane, end,
                            deal.lanes, what.smallest);
      } else {
        for (std::int64_t r = begin + lane; r < end; r += deal.lanes) {
          const std::int64_t place = candidates == nullptr ? r : candidates[kept * deal.over + r];
          std::int64_t here[3] = {};
          move_to(what.over, false, place, here);
          best.join(plain(line[here[a]]), place, what.smallest);
        }
      }
    }
    if (deal.lanes > 1) {
      values[threadIdx.x] = best.value;
      places[threadIdx.x] = best.place;
      for (unsigned half = deal.lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) {
          best.join(values[threadIdx.x + half], places[threadIdx.x + half], what.smallest);
          values[threadIdx.x] = best.value;
          places[threadIdx.x] = best.place;
        }
      }
      __syncthreads();
    }
    if (task >= tasks || lane != 0) continue;
    if (deal.partial != nullptr) {
      static_cast<std::int64_t*>(deal.partial)[kept * deal.chunks + chunk] = best.place;
    } else {
      static_cast<std::int64_t*>(what.data[to])[at[to]] = best.place;
    }
  }
}

/// Adjacent threads take adjacent elements, of one line or of several.
ChunkDeal deal_of(const Places& what) {
  constexpr std::int64_t warp = 32, enough_threads = std::int64_t{most_blocks} * threads_per_block;
  ChunkDeal deal;
  deal.kept = elements_of(what.kept);
  deal.over = elements_of(what.over);
  const bool columns = deal.kept >= warp && stride_of(what.kept, a) < stride_of(what.over, a);
  if (!columns) deal.widen(warp);
  while (!columns && deal.lanes < threads_per_block && deal.lanes < deal.over &&
         deal.kept * deal.lanes < enough_threads)
    deal.lanes *= 2;
  deal.cut(enough_threads, sizeof(std::int64_t));
  if (deal.lanes == 1) return deal;
  deal.chunk = in_rounds(deal.chunk, deal.lanes * loads_at_once * 16 / size_of(what.dtype));
  deal.chunks = std::max<std::int64_t>(rounded_up(deal.over, deal.chunk), 1);
  return deal;
}

template <class T>
int start(const Places& what, const ChunkDeal& deal, const void* candidates, cudaStream_t stream) {
  find_places<T><<<deal.blocks(), threads_per_block, 0, stream>>>(
      what, deal, static_cast<const std::int64_t*>(candidates));
  return cudaGetLastError();
}

template <class T>
int find_in(const Places& what, void* scratch, cudaStream_t stream) {
  ChunkDeal deal = deal_of(what);
  if (deal.chunks > 1) deal.partial = scratch;
  const int result = start<T>(what, deal, nullptr, stream);
  return deal.chunks == 1 || result != cudaSuccess ? result : start<T>(what, deal.last(), scratch, stream);
}

}  // namespace

int launch_places(const Places& what, void* scratch, void* stream) {
  return with_ordered(what.dtype, [&](auto element) {
    return find_in<decltype(element)>(what, scratch, static_cast<cudaStream_t>(stream));
  });
}

int load_places_kernels() {
  for (int dtype = 0; dtype <= static_cast<int>(Dtype::f64); ++dtype) {
    const int result = with_ordered(static_cast<Dtype>(dtype),
                                    [](auto element) { return load(find_places<decltype(element)>); });
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
