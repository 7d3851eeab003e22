// softmax(scale Q K') V of what each query may see, and the logarithm of each softmax's denominator, without
// scores in memory: FlashAttention-2 (Dao 2023), algorithm 1, as FlashAttention-3 (Shah et al. 2024) spreads it
// over a Hopper's warps. One group of warps copies keys and values into a ring; each of two others has 64
// queries, and multiplies the next scores while it sums up the last values.
#pragma once

#include "transformer/cuda_attention.cuh"

namespace transformer::cuda {

template <int Size>
struct ForwardShared {
  static constexpr int stages = 2;
  alignas(1024) Bf16 query[tile_rows * Size];
  Bf16 key[stages][tile_rows * Size];
  Bf16 value[stages][tile_rows * Size];
  Barrier query_full, key_full[stages], key_empty[stages], value_full[stages], value_empty[stages];
};

struct ForwardMaps {
  CUtensorMap query, key, value, context;
};

/// Of the thread's two rows: exponentials are of base 2, of scores times `scale` less the largest so far.
struct OnlineSoftmax {
  float most[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};

  /// Scores become exponentials; `factors` are what earlier sums have to be multiplied by.
  template <int N>
  __device__ void add(float (&scores)[N], float scale, float (&factors)[2]) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float largest = most[row];
#pragma unroll
      for (int i = 2 * row; i < N; i += 4) largest = fmaxf(largest, fmaxf(scores[i], scores[i + 1]));
      largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
      factors[row] = exp2_of((most[row] - largest) * scale);
      most[row] = largest;
      sum[row] *= factors[row];
      const float less = largest * scale;
#pragma unroll
      for (int i = 2 * row; i < N; i += 4) {
#pragma unroll
        for (int j = i; j < i + 2; ++j) {
          scores[j] = exp2_of(fmaf(scores[j], scale, -less));
          sum[row] += scores[j];
        }
      }
    }
  }
  /// Of the whole row, from the four threads that have it.
  __device__ float sum_of(int row) const {
    float all = sum[row];
    all += __shfl_xor_sync(~0u, all, 1);
    return all + __shfl_xor_sync(~0u, all, 2);
  }
};

/// Of a tile on the diagonal, as seen by a group's rows.
template <int N>
__device__ void hide_later_keys(float (&scores)[N], int first_row) {
  const Fragment own;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const int key = own.column + i % 2 + i / 4 * 8, query = first_row + own.row + i / 2 % 2 * 8;
    if (key > query) scores[i] = -INFINITY;
  }
}

template <int Size>
__device__ void copy_for_forward(ForwardShared<Size>& shared, const ForwardMaps& maps,
                                 const AttentionPlace& at, int tile) {
  constexpr unsigned bytes = tile_rows * Size * sizeof(Bf16);
  expect(shared.query_full, bytes);
  load_tile<tile_rows, Size>(maps.query, shared.query_full, shared.query, tile * tile_rows, at.head, at.batch);
  Turn<ForwardShared<Size>::stages> turn;
  for (; tile >= 0; --tile) {
    const int row = tile * tile_rows, stage = turn.stage;
    wait(shared.key_empty[stage], turn.parity ^ 1);
    expect(shared.key_full[stage], bytes);
    load_tile<tile_rows, Size>(maps.key, shared.key_full[stage], shared.key[stage], row, at.head, at.batch);
    wait(shared.value_empty[stage], turn.parity ^ 1);
    expect(shared.value_full[stage], bytes);
    load_tile<tile_rows, Size>(maps.value, shared.value_full[stage], shared.value[stage], row, at.head, at.batch);
    turn.advance();
  }
}

template <int Size>
__device__ void compute_forward(ForwardShared<Size>& shared, const ForwardMaps& maps,
                                const AttentionShape& shape, const AttentionPlace& at, int tile,
                                float* logarithms) {
  const int group = warp_group() - 1;
  const float scale = shape.scale * log2_of_e;
  Bf16* const query = shared.query + group * 64 * slab;
  float context[Size / 2] = {}, scores[tile_rows / 2], factors[2];
  std::uint32_t weights[tile_rows / 4];
  OnlineSoftmax softmax;
  Turn<ForwardShared<Size>::stages> keys, values;

  wait(shared.query_full, 0);
  wait(shared.key_full[0], 0);
  begin_products();
  multiply_tiles<Size, tile_rows, tile_rows>(scores, query, shared.key[0]);
  end_products();
  wait_for_products<0>();
  settle(scores);
  release(shared.key_empty[0]);
  hide_later_keys(scores, group * 64);
  softmax.add(scores, scale, factors);
  pack(scores, weights);
  for (int i = 0; i < tile; ++i) {
    keys.advance();
    wait(shared.key_full[keys.stage], keys.parity);
    begin_products();
    multiply_tiles<Size, tile_rows, tile_rows>(scores, query, shared.key[keys.stage]);
    end_products();
    wait(shared.value_full[values.stage], values.parity);
    begin_products();
    add_product<tile_rows, Size>(context, weights, shared.value[values.stage]);
    end_products();
    wait_for_products<1>();
    settle(scores);
    release(shared.key_empty[keys.stage]);
    softmax.add(scores, scale, factors);
    wait_for_products<0>();
    settle(context);
    release(shared.value_empty[values.stage]);
    values.advance();
#pragma unroll
    for (int j = 0; j < Size / 2; ++j) context[j] *= factors[j / 2 % 2];
    pack(scores, weights);
  }
  wait(shared.value_full[values.stage], values.parity);
  begin_products();
  add_product<tile_rows, Size>(context, weights, shared.value[values.stage]);
  end_products();
  wait_for_products<0>();
  settle(context);

  const Fragment own;
  const int row = tile * tile_rows + group * 64;
  const float sums[2] = {softmax.sum_of(0), softmax.sum_of(1)};
  if (own.column == 0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int token = row + own.row + 8 * i;
      if (token < shape.tokens)
        logarithms[static_cast<std::int64_t>(at.number) * shape.tokens + token] =
            softmax.most[i] * shape.scale + __logf(sums[i]);
    }
  }
  store_rows<Size>(maps.context, context, 1 / sums[0], 1 / sums[1], query, row, at.head, at.batch, group + 1);
}

template <int Size>
__global__ void __launch_bounds__(attention_threads, 1)
    attention_forward(const __grid_constant__ ForwardMaps maps, AttentionShape shape, float* logarithms) {
  auto& shared = shared_memory<ForwardShared<Size>>();
  if (threadIdx.x == 0) {
    make_barrier(shared.query_full, 1);
    make_barriers(shared.key_full, shared.key_empty);
    make_barriers(shared.value_full, shared.value_empty);
    publish_barriers();
  }
  __syncthreads();
  const AttentionPlace at(shape, static_cast<int>(blockIdx.x));
  const int tile = shape.tiles() - 1 - at.turn;
  if (threadIdx.x < 128) {
    leave_registers();
    if (threadIdx.x == 0) copy_for_forward<Size>(shared, maps, at, tile);
  } else {
    take_registers();
    compute_forward<Size>(shared, maps, shape, at, tile, logarithms);
  }
}

}  // namespace transformer::cuda
