// Rows that are chosen by their positions, and positions of what is true, which CUB counts and selects.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/selection_launch.hpp"

namespace partita::kernels::cuda {
namespace {

/// A gather in words, of which rows and elements consist.
struct Words {
  std::int64_t all = 0;    // of the result
  std::int64_t width = 1;  // of a row
  std::int64_t each = 0;   // for which there is an index of their own; 0: there is one for a row
};

constexpr int in_flight = 4;  // words of a thread

__device__ inline std::int64_t divided(std::int64_t number, std::int64_t by, bool narrow) {
  if (by == 1) return number;
  return narrow ? static_cast<std::uint32_t>(number) / static_cast<std::uint32_t>(by) : number / by;
}

/// By all threads of the block, 16 bytes at a time if the addresses allow it.
template <class Word>
__device__ void copy_near(const Word* from, Word* near, int words) {
  constexpr int width = sizeof(uint4) / sizeof(Word);
  int first = 0;
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) == 0) {
    const auto* const source = reinterpret_cast<const uint4*>(from);
#pragma unroll 4
    for (int i = threadIdx.x; i < words / width; i += threads_per_block)
      reinterpret_cast<uint4*>(near)[i] = source[i];
    first = words / width * width;
  }
#pragma unroll 4
  for (int i = first + threadIdx.x; i < words; i += threads_per_block) near[i] = from[i];
}

/// Neighbouring threads copy neighbouring words, several each: first come all their indices, then all words.
template <class Word>
__global__ void __launch_bounds__(threads_per_block)
    gather_words(const Word* from, Word* to, const __grid_constant__ GatherPass what,
                 const __grid_constant__ Words words) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const bool narrow = words.all < narrow_numbers;
  bool outside = false;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words.all;
       i += in_flight * step) {
    std::int64_t at[in_flight], index[in_flight], rows[in_flight], offset[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
      at[u] = i + u * step < words.all ? i + u * step : words.all - 1;  // again, where there are no more
      const std::int64_t row = divided(at[u], words.width, narrow);
      const std::int64_t outer = what.outer == 1 ? 0 : divided(row, what.count, narrow);
      index[u] =
          what.indices[words.each == 0 ? row - outer * what.count : divided(at[u], words.each, narrow)];
      rows[u] = outer * what.extent;
      offset[u] = at[u] - row * words.width;
    }
    Word loaded[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
      std::int64_t chosen = settled(index[u], what);
      if (chosen < 0) chosen = 0, outside = true;
      loaded[u] = from[(rows[u] + chosen) * words.width + offset[u]];
    }
#pragma unroll
    for (int u = 0; u < in_flight; ++u) to[at[u]] = loaded[u];
  }
  if (outside) *what.reported = 1;
}

/// A block copies `lines` lines of `from`, which follow each other, into shared memory, and takes elements
/// from there: they are read once, however many are taken in which order.
template <class Word>
__global__ void __launch_bounds__(threads_per_block)
    gather_in_lines(const Word* from, Word* to, const __grid_constant__ GatherPass what, std::int64_t lines) {
  extern __shared__ uint4 memory[];
  auto* const near = reinterpret_cast<Word*>(memory);
  bool outside = false;
  const auto place_of = [&](std::int64_t index) {
    const std::int64_t chosen = settled(index, what);
    if (chosen >= 0) return static_cast<int>(chosen);
    outside = true;
    return 0;
  };
  const int extent = static_cast<int>(what.extent);
  for (std::int64_t first = blockIdx.x * lines; first < what.outer; first += gridDim.x * lines) {
    const int many = static_cast<int>(first + lines < what.outer ? lines : what.outer - first);
    copy_near(from + first * extent, near, many * extent);
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < what.count; i += blockDim.x) {
      int place = what.own ? 0 : place_of(what.indices[i]);
      for (int l = 0; l < many; ++l) {
        const std::int64_t at = (first + l) * what.count + i;
        if (what.own) place = place_of(what.indices[at]);
        to[at] = near[l * extent + place];
      }
    }
    __syncthreads();
  }
  if (outside) *what.reported = 1;
}

/// How many lines a block copies at once; 0: lines are few, short or too long, or little of them is taken.
std::int64_t lines_at_once(const GatherPass& what) {
  constexpr std::int64_t room = 48 * 1024, enough = 32 * 1024, sector = 32, most = 8;
  const std::int64_t bytes = what.extent * what.element_bytes;
  if (what.width != 1 || what.count < threads_per_block || bytes > room || bytes > what.count * sector)
    return 0;
  if (what.outer < most_blocks / 4) return 0;
  return std::clamp<std::int64_t>(std::min(enough / bytes, what.outer / most_blocks), 1, most);
}

/// body(Word()) for the longest words of which rows of so many bytes consist, from these addresses on.
template <class Body>
int with_word(std::uint64_t bytes_and_addresses, const Body& body) {
  if (bytes_and_addresses % 16 == 0) return body(uint4());
  if (bytes_and_addresses % 8 == 0) return body(std::uint64_t());
  if (bytes_and_addresses % 4 == 0) return body(std::uint32_t());
  if (bytes_and_addresses % 2 == 0) return body(std::uint16_t());
  return body(std::uint8_t());
}

struct Counted {
  __host__ __device__ std::int64_t operator()(bool one) const { return one ? 1 : 0; }
};

/// As CUB's functions: with a null `memory`, only the bytes.
cudaError_t select(const TruePass& what, void* memory, std::size_t& bytes, cudaStream_t stream) {
  if (what.to == nullptr)
    return cub::DeviceReduce::Sum(memory, bytes, thrust::make_transform_iterator(what.from, Counted{}),
                                  what.found, what.count, stream);
  return cub::DeviceSelect::Flagged(memory, bytes, thrust::make_counting_iterator(std::int64_t{0}), what.from,
                                    what.to, what.found, what.count, stream);
}

}  // namespace

int launch_gather(const GatherPass& what, void* stream) {
  const std::int64_t row_bytes = what.width * what.element_bytes;
  const std::uint64_t together = static_cast<std::uint64_t>(what.own ? what.element_bytes : row_bytes) |
                                 reinterpret_cast<std::uint64_t>(what.from) |
                                 reinterpret_cast<std::uint64_t>(what.to);
  return with_word(together, [&](auto word) -> int {
    using Word = decltype(word);
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(Word));
    auto* const native = static_cast<cudaStream_t>(stream);
    const auto* const from = static_cast<const Word*>(what.from);
    auto* const to = static_cast<Word*>(what.to);
    const std::int64_t lines = what.element_bytes == bytes ? lines_at_once(what) : 0;
    if (lines > 0) {
      const std::int64_t wanted = rounded_up(what.outer, lines);
      const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(wanted, 4 * most_blocks));
      const auto near = static_cast<std::size_t>(lines * what.extent * bytes);
      gather_in_lines<Word><<<blocks, threads_per_block, near, native>>>(from, to, what, lines);
      return cudaGetLastError();
    }
    const Words words{what.outer * what.count * (row_bytes / bytes), row_bytes / bytes,
                      what.own ? what.element_bytes / bytes : 0};
    gather_words<Word><<<blocks_for(rounded_up(words.all, in_flight)), threads_per_block, 0, native>>>(
        from, to, what, words);
    return cudaGetLastError();
  });
}

int find_true_scratch(const TruePass& what, std::int64_t& bytes) {
  std::size_t found = 0;
  const cudaError_t error = select(what, nullptr, found, nullptr);
  bytes = static_cast<std::int64_t>(found);
  return error;
}

int launch_true(const TruePass& what, void* scratch, void* stream) {
  std::size_t bytes = 0;
  if (const cudaError_t error = select(what, nullptr, bytes, nullptr); error != cudaSuccess) return error;
  return select(what, scratch, bytes, static_cast<cudaStream_t>(stream));
}

int load_selection_kernels() {
  std::int64_t place = 0, bytes = 0;
  for (std::int64_t* const to : {static_cast<std::int64_t*>(nullptr), &place}) {
    if (const int error = find_true_scratch({1 << 20, nullptr, to, nullptr}, bytes); error != 0) return error;
  }
  for (const std::uint64_t bytes_of_row : {1, 2, 4, 8, 16}) {
    const int error = with_word(bytes_of_row, [](auto word) {
      using Word = decltype(word);
      return load(gather_words<Word>, gather_in_lines<Word>);
    });
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace partita::kernels::cuda
