// Rows that are chosen by their positions, and positions of what is true, which CUB counts and selects.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/selection_launch.hpp"

namespace partita::kernels::cuda {
namespace {

/// `width`: words of a row. Neighbouring threads copy neighbouring words.
template <class Word>
__global__ void gather_words(const Word* from, const std::int64_t* rows, Word* to, std::int64_t words,
                             std::int64_t width) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += step) {
    const std::int64_t row = width == 1 ? i
                             : words < narrow_numbers
                                 ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(width)
                                 : i / width;
    to[i] = from[rows[row] * width + (i - row * width)];
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
cudaError_t select(const True& what, void* memory, std::size_t& bytes, cudaStream_t stream) {
  if (what.to == nullptr)
    return cub::DeviceReduce::Sum(memory, bytes, thrust::make_transform_iterator(what.from, Counted{}),
                                  what.found, what.count, stream);
  return cub::DeviceSelect::Flagged(memory, bytes, thrust::make_counting_iterator(std::int64_t{0}), what.from,
                                    what.to, what.found, what.count, stream);
}

}  // namespace

int launch_gather(std::int64_t row_bytes, std::int64_t count, const void* from, const std::int64_t* rows,
                  void* to, void* stream) {
  const std::uint64_t together = static_cast<std::uint64_t>(row_bytes) |
                                 reinterpret_cast<std::uint64_t>(from) | reinterpret_cast<std::uint64_t>(to);
  return with_word(together, [&](auto word) -> int {
    using Word = decltype(word);
    const std::int64_t width = row_bytes / static_cast<std::int64_t>(sizeof(Word));
    gather_words<Word>
        <<<blocks_for(count * width), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(
            static_cast<const Word*>(from), rows, static_cast<Word*>(to), count * width, width);
    return cudaGetLastError();
  });
}

int find_true_scratch(const True& what, std::int64_t& bytes) {
  std::size_t found = 0;
  const cudaError_t error = select(what, nullptr, found, nullptr);
  bytes = static_cast<std::int64_t>(found);
  return error;
}

int launch_true(const True& what, void* scratch, void* stream) {
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
      using Gather = void (*)(const Word*, const std::int64_t*, Word*, std::int64_t, std::int64_t);
      constexpr Gather gather[] = {gather_words<Word>};
      return load_each(gather);
    });
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace partita::kernels::cuda
