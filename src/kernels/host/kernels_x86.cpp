// The inner kernels for x86-64: AVX2 and AVX-512, chosen when the program runs.
#include "kernels/host/copy_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>
#include <vector>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

namespace partita::kernels {
namespace {

constexpr std::int64_t line = 64;

std::int64_t bytes_to_line(const std::byte* address) {
  return static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(address) & 63u);
}

// ---- streamed runs: a head up to the first line of the destination, whole lines, a tail ----

AVX2 void store_lines_avx2(const std::byte* from, std::byte* to, std::int64_t lines) {
  for (std::int64_t i = 0; i < lines; ++i, from += line, to += line) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + 32), high);
  }
}

AVX512 void store_lines_avx512(const std::byte* from, std::byte* to, std::int64_t lines) {
  for (std::int64_t i = 0; i < lines; ++i, from += line, to += line) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
}

using StoreLines = void (*)(const std::byte* from, std::byte* to, std::int64_t lines);

template <StoreLines store_lines>
void stream(const std::byte* from, std::byte* to, std::int64_t bytes) {
  const std::int64_t head = bytes_to_line(to);
  const std::int64_t lines = (bytes - head) / line;
  if (bytes < head + line) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  std::memcpy(to, from, static_cast<std::size_t>(head));
  store_lines(from + head, to + head, lines);
  const std::int64_t done = head + lines * line;
  std::memcpy(to + done, from + done, static_cast<std::size_t>(bytes - done));
}

template <StoreLines store_lines>
void stream_rows(const std::byte* from, std::byte* to, std::int64_t row_bytes, const CopyLoop& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    stream<store_lines>(from + i * rows.from_stride, to + i * rows.to_stride, row_bytes);
  }
}

// ---- transposes of a tile in registers ----

// 16 x 16 items of 1 byte, 8 x 8 of 2: interleaving row i with the one half a tile below, in as many rounds
// as halve the tile to single rows, transposes it.
template <int item>
AVX2 void tile_small(const std::byte* from, std::int64_t from_stride, std::byte* to, std::int64_t to_stride) {
  constexpr int side = 16 / item, half = side / 2;
  __m128i a[16];
  __m128i b[16];
  for (int i = 0; i < side; ++i)
    a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_stride));
  for (int rows = side; rows > 1; rows /= 2) {
    for (int i = 0; i < half; ++i) {
      b[2 * i] = item == 1 ? _mm_unpacklo_epi8(a[i], a[i + half]) : _mm_unpacklo_epi16(a[i], a[i + half]);
      b[2 * i + 1] = item == 1 ? _mm_unpackhi_epi8(a[i], a[i + half]) : _mm_unpackhi_epi16(a[i], a[i + half]);
    }
    for (int i = 0; i < side; ++i) a[i] = b[i];
  }
  for (int i = 0; i < side; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_stride), a[i]);
}

AVX2 void tile_4_avx2(const std::byte* from, std::int64_t from_stride, std::byte* to,
                      std::int64_t to_stride) {
  __m256 a[8];
  __m256 b[8];
  // Row i with row i + 4 in the other half of the register: what is left is a transpose within the halves.
  for (int i = 0; i < 4; ++i) {
    const float* low = reinterpret_cast<const float*>(from + i * from_stride);
    const float* high = reinterpret_cast<const float*>(from + (i + 4) * from_stride);
    a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
    a[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low + 4)), _mm_loadu_ps(high + 4), 1);
  }
  for (int half = 0; half < 8; half += 4) {
    b[half] = _mm256_unpacklo_ps(a[half], a[half + 2]);
    b[half + 1] = _mm256_unpackhi_ps(a[half], a[half + 2]);
    b[half + 2] = _mm256_unpacklo_ps(a[half + 1], a[half + 3]);
    b[half + 3] = _mm256_unpackhi_ps(a[half + 1], a[half + 3]);
    a[half] = _mm256_unpacklo_ps(b[half], b[half + 2]);
    a[half + 1] = _mm256_unpackhi_ps(b[half], b[half + 2]);
    a[half + 2] = _mm256_unpacklo_ps(b[half + 1], b[half + 3]);
    a[half + 3] = _mm256_unpackhi_ps(b[half + 1], b[half + 3]);
  }
  for (int i = 0; i < 8; ++i) _mm256_storeu_ps(reinterpret_cast<float*>(to + i * to_stride), a[i]);
}

AVX2 void tile_8_avx2(const std::byte* from, std::int64_t from_stride, std::byte* to,
                      std::int64_t to_stride) {
  __m256d a[4];
  for (int i = 0; i < 4; ++i) a[i] = _mm256_loadu_pd(reinterpret_cast<const double*>(from + i * from_stride));
  const __m256d b[4] = {_mm256_unpacklo_pd(a[0], a[1]), _mm256_unpackhi_pd(a[0], a[1]),
                        _mm256_unpacklo_pd(a[2], a[3]), _mm256_unpackhi_pd(a[2], a[3])};
  const __m256d c[4] = {_mm256_permute2f128_pd(b[0], b[2], 0x20), _mm256_permute2f128_pd(b[1], b[3], 0x20),
                        _mm256_permute2f128_pd(b[0], b[2], 0x31), _mm256_permute2f128_pd(b[1], b[3], 0x31)};
  for (int i = 0; i < 4; ++i) _mm256_storeu_pd(reinterpret_cast<double*>(to + i * to_stride), c[i]);
}

AVX2 void tile_16(const std::byte* from, std::int64_t from_stride, std::byte* to, std::int64_t to_stride) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const __m128i item = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_stride + j * 16));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + j * to_stride + i * 16), item);
    }
  }
}

// The compiler's own vectors: gcc 12 warns inside its 512-bit shuffle intrinsics.
using Octet = double __attribute__((vector_size(64)));

// 8 x 8 items of 8 bytes: neighbours within pairs of rows, then pairs of columns, then halves change places.
AVX512 void tile_8_avx512(const std::byte* from, std::int64_t from_stride, std::byte* to,
                          std::int64_t to_stride) {
  Octet a[8];
  Octet b[8];
  for (int i = 0; i < 8; ++i) std::memcpy(&a[i], from + i * from_stride, sizeof a[i]);
  for (int i = 0; i < 8; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) {
    a[i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    a[i + 2] = __builtin_shufflevector(b[i], b[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) std::memcpy(to + i * to_stride, &b[i], sizeof b[i]);
}

using Tile = void (*)(const std::byte*, std::int64_t, std::byte*, std::int64_t);

// The rows of the next tile: the hardware prefetcher does not follow rows that are pages apart.
template <std::int64_t side>
void fetch_lines(const std::byte* from, const TransposeShape& shape) {
  for (std::int64_t row = 0; row < side; ++row) {
    __builtin_prefetch(from + row * shape.from_stride, 0, 2);  // to read, into the second cache: prefetcht1
  }
}

// Whole tiles in registers; the rest at the right and at the bottom is copied element by element.
template <Tile tile, std::int64_t side, std::int64_t item, int kind>
void transpose(const std::byte* from, std::byte* to, const TransposeShape& shape) {
  const std::int64_t rows = shape.rows - shape.rows % side;
  const std::int64_t columns = shape.columns - shape.columns % side;
  for (std::int64_t row = 0; row < rows; row += side) {
    const std::byte* source = from + row * shape.from_stride;
    for (std::int64_t column = 0; column < columns; column += side) {
      if (column * item % line == 0)
        fetch_lines<side>(source + side * shape.from_stride + column * item, shape);
      tile(source + column * item, shape.from_stride, to + column * shape.to_stride + row * item,
           shape.to_stride);
    }
  }
  TransposeShape right = shape;
  right.rows = rows;
  right.columns = shape.columns - columns;
  TransposeShape bottom = shape;
  bottom.rows = shape.rows - rows;
  const auto rest = portable_copy_kernels.transpose[kind];
  if (right.columns > 0) rest(from + columns * item, to + columns * shape.to_stride, right);
  if (bottom.rows > 0) rest(from + rows * shape.from_stride, to + rows * item, bottom);
}

void finish() {
  _mm_sfence();
}

const CopyKernels avx2_kernels{
    .name = "avx2",
    .stream = stream<store_lines_avx2>,
    .stream_rows = stream_rows<store_lines_avx2>,
    .transpose = {transpose<tile_small<1>, 16, 1, 0>, transpose<tile_small<2>, 8, 2, 1>,
                  transpose<tile_4_avx2, 8, 4, 2>, transpose<tile_8_avx2, 4, 8, 3>,
                  transpose<tile_16, 4, 16, 4>},
    .finish = finish,
};

const CopyKernels avx512_kernels{
    .name = "avx512",
    .stream = stream<store_lines_avx512>,
    .stream_rows = stream_rows<store_lines_avx512>,
    .transpose = {transpose<tile_small<1>, 16, 1, 0>, transpose<tile_small<2>, 8, 2, 1>,
                  transpose<tile_4_avx2, 8, 4, 2>, transpose<tile_8_avx512, 8, 8, 3>,
                  transpose<tile_16, 4, 16, 4>},
    .finish = finish,
};

}  // namespace

std::span<const CopyKernels* const> available_copy_kernels() {
  static const std::vector<const CopyKernels*> tables = [] {
    std::vector<const CopyKernels*> all;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if (avx512) all.push_back(&avx512_kernels);
    if (__builtin_cpu_supports("avx2")) all.push_back(&avx2_kernels);
    all.push_back(&portable_copy_kernels);
    return all;
  }();
  return tables;
}

}  // namespace partita::kernels

#endif
