// What the kernels of attention share: which block does what, products of tiles, and numbers on their way from
// and to registers.
#pragma once

#include <cmath>

#include "transformer/hopper.cuh"

namespace transformer::cuda {

/// Rows of a block's tile, of which each of two groups of four warps has 64.
constexpr int tile_rows = 128;
constexpr int attention_threads = 3 * 128;  ///< a group that copies, and two that compute

/// Queries, keys, values and the like: [batch, heads, tokens, size].
struct AttentionShape {
  int tokens, heads, batch;
  int together;  ///< heads whose keys and values are in the cache at a time
  float scale;   ///< of the scores

  __host__ __device__ int tiles() const { return (tokens + tile_rows - 1) / tile_rows; }
  __host__ __device__ int blocks() const { return tiles() * heads * batch; }
};

/// The same number in all threads of a warp, as the compiler sees then: what follows from it (a place in a tile, the
/// end of a loop) is computed once for the warp.
__device__ inline int uniform(int number) {
  return __shfl_sync(~0u, number, 0);
}
/// Four warps each.
__device__ inline int warp_group() {
  return uniform(static_cast<int>(threadIdx.x) / 128);
}

/// Where a block works. `turn` counts what has most to do first; the heads that are together come tile by tile.
struct AttentionPlace {
  __device__ AttentionPlace(const AttentionShape& shape, int block) {
    const int all = shape.heads * shape.batch, tiles = shape.tiles();
    const int first = block / (shape.together * tiles) * shape.together;
    const int many = min(shape.together, all - first);
    const int rest = block - first * tiles;
    turn = rest / many;
    number = first + rest % many;
    head = number % shape.heads;
    batch = number / shape.heads;
  }
  int turn, number, head, batch;
};

/// A block's dynamic memory, from where slabs may begin: so it takes 1023 bytes more.
template <class Shared>
__device__ Shared& shared_memory() {
  extern __shared__ unsigned char memory[];
  return *reinterpret_cast<Shared*>((reinterpret_cast<std::uintptr_t>(memory) + 1023) / 1024 * 1024);
}

/// Of a ring: stages are full when their bytes are there, and empty when eight warps have released them.
template <int Stages>
__device__ void make_barriers(Barrier (&full)[Stages], Barrier (&empty)[Stages]) {
  for (int i = 0; i < Stages; ++i) {
    make_barrier(full[i], 1);
    make_barrier(empty[i], 8);
  }
}

constexpr float log2_of_e = 1.44269504F;  ///< exponentials are of base 2

/// A thread's part of an accumulator of 64 rows: number i is at row + 8 (i / 2 % 2), column + i % 2 + 8 (i / 4).
struct Fragment {
  int row = static_cast<int>(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
  int column = static_cast<int>(threadIdx.x % 4 * 2);
};

/// d = A B' of 64 rows of one tile, of `RowsA`, and all `RowsB` of another.
template <int Columns, int RowsA, int RowsB>
__device__ void multiply_tiles(float (&d)[RowsB / 2], const Bf16* a, const Bf16* b) {
  const std::uint32_t at_a = place(a), at_b = place(b);
#pragma unroll
  for (int k = 0; k < Columns; k += 16) {
    const int inside = k % slab * 2, slabs = k / slab * slab * 2;  // bytes; of a row of the slabs
    const std::uint64_t of_a = descriptor<0>(at_a + ((slabs * RowsA + inside) >> 4));
    const std::uint64_t of_b = descriptor<0>(at_b + ((slabs * RowsB + inside) >> 4));
    if (k == 0)
      multiply(d, of_a, of_b);
    else
      multiply_add(d, of_a, of_b);
  }
}

/// d += P B: P 64 x `Rows` in registers, B a tile of so many rows.
template <int Rows, int Columns>
__device__ void add_product(float (&d)[Columns / 2], const std::uint32_t (&p)[Rows / 4], const Bf16* b) {
  const std::uint32_t at_b = place(b);
#pragma unroll
  for (int k = 0; k < Rows; k += 16) multiply_add(d, p + k / 4, descriptor<slab * 2 * Rows>(at_b + ((k * slab * 2) >> 4)));
}

__device__ inline std::uint32_t pack(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}
/// An accumulator as the left side of the next product.
template <int N>
__device__ void pack(const float (&from)[N], std::uint32_t (&to)[N / 2]) {
#pragma unroll
  for (int i = 0; i < N; i += 2) to[i / 2] = pack(from[i], from[i + 1]);
}

__device__ inline float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// An accumulator, times a factor for each of the thread's two rows, is stored through 64 rows of a tile of
/// `tile_rows` to an array, from that row on. For a whole group of warps; `meeting` is its barrier.
template <int Columns>
__device__ void store_rows(const CUtensorMap& map, const float (&from)[Columns / 2], float first, float second,
                           Bf16* through, int row, int head, int batch, int meeting) {
  const Fragment own;
  auto* const bytes = reinterpret_cast<unsigned char*>(through);
#pragma unroll
  for (int i = 0; i < Columns / 2; i += 2) {
    const int column = i / 4 * 8, lower = own.row + i / 2 % 2 * 8;
    const int piece = column % slab / 8 ^ lower % 8;
    const float factor = i / 2 % 2 == 0 ? first : second;
    *reinterpret_cast<std::uint32_t*>(bytes + (column / slab * tile_rows + lower) * slab * 2 + piece * 16 +
                                      own.column * 2) = pack(from[i] * factor, from[i + 1] * factor);
  }
  publish_shared();
  meet(meeting);
  if (threadIdx.x % 128 != 0) return;
#pragma unroll
  for (int column = 0; column < Columns; column += slab)
    store_box(map, through + column * tile_rows, column, row, head, batch);
  wait_for_stores();
}

}  // namespace transformer::cuda
