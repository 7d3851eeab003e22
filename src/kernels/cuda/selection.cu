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

__device__ inline std::int64_t divided(std::int64_t number, std::int64_t by, bool narrow) {
  if (by == 1) return number;
  return narrow ? static_cast<std::uint32_t>(number) / static_cast<std::uint32_t>(by) : number / by;
}

/// Neighbouring threads copy neighbouring words.
template <class Word>
__global__ void gather_words(const Word* from, Word* to, const __grid_constant__ GatherPass what,
                             const __grid_constant__ Words words) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const bool narrow = words.all < narrow_numbers;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words.all; i += step) {
    const std::int64_t row = divided(i, words.width, narrow);
    const std::int64_t outer = what.outer == 1 ? 0 : divided(row, what.count, narrow);
    const std::int64_t place = words.each == 0 ? row - outer * what.count : divided(i, words.each, narrow);
    std::int64_t chosen = settled(what.indices[place], what);
    if (chosen < 0) chosen = 0, *what.reported = 1;
    to[i] = from[(outer * what.extent + chosen) * words.width + (i - row * words.width)];
  }
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
    const Words words{what.outer * what.count * (row_bytes / bytes), row_bytes / bytes,
                      what.own ? what.element_bytes / bytes : 0};
    gather_words<Word><<<blocks_for(words.all), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const Word*>(what.from), static_cast<Word*>(what.to), what, words);
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
      return load(gather_words<Word>);
    });
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace partita::kernels::cuda
