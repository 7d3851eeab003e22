// The inner kernels in plain C++, for machines without a table of kernels.
#include <cstring>

#include "kernels/host/copy_kernels.hpp"
#include "kernels/host/rows.hpp"

namespace partita::kernels {
namespace {

void stream(const std::byte* from, std::byte* to, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// to[c][r] = from[r][c], eight rows at a time: few enough lines for the nearest cache on both sides.
template <std::size_t size>
void transpose(const std::byte* from, std::byte* to, const TransposeShape& shape) {
  constexpr auto step = static_cast<std::int64_t>(size);
  for (std::int64_t first = 0; first < shape.rows; first += 8) {
    const std::int64_t rows = shape.rows - first < 8 ? shape.rows - first : 8;
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      const std::byte* source = from + first * shape.from_stride + column * step;
      std::byte* destination = to + column * shape.to_stride + first * step;
      for (std::int64_t row = 0; row < rows; ++row) {
        std::memcpy(destination + row * step, source + row * shape.from_stride, size);
      }
    }
  }
}

}  // namespace

const CopyKernels portable_copy_kernels{
    .name = "portable",
    .stream = stream,
    .stream_rows = copy_rows,
    .transpose = {transpose<1>, transpose<2>, transpose<4>, transpose<8>, transpose<16>},
    .finish = [] {},
};

const CopyKernels& copy_kernels() {
  static const CopyKernels& fastest = *available_copy_kernels().front();
  return fastest;
}

#if !defined(__x86_64__)
std::span<const CopyKernels* const> available_copy_kernels() {
  static const CopyKernels* const only = &portable_copy_kernels;
  return {&only, 1};
}
#endif

}  // namespace partita::kernels
