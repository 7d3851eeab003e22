// The gradients of keys and values, a block a tile of keys: see cuda_attention_backward.cuh. Scores are made
// transposed, keys by queries.
#pragma once

#include <type_traits>

#include "transformer/cuda_attention_backward.cuh"

namespace transformer::cuda {

template <int Size>
struct KeysShared {
  static constexpr int stages = 3, queries = line_rows;
  alignas(1024) Bf16 key[tile_rows * Size];
  Bf16 value[tile_rows * Size];
  Bf16 query[stages][queries * Size];
  Bf16 gradient[stages][queries * Size];
  float lines[stages][2 * queries];
  Barrier own_full, full[stages], empty[stages];
};

template <int Size>
__device__ void copy_for_keys(KeysShared<Size>& shared, const BackwardMaps& maps, const AttentionShape& shape,
                              const AttentionPlace& at, const float* lines) {
  constexpr int queries = KeysShared<Size>::queries;
  const int row = at.turn * tile_rows;
  expect(shared.own_full, 2 * tile_rows * Size * sizeof(Bf16));
  load_tile<tile_rows, Size>(maps.key, shared.own_full, shared.key, row, at.head, at.batch);
  load_tile<tile_rows, Size>(maps.value, shared.own_full, shared.value, row, at.head, at.batch);
  Turn<KeysShared<Size>::stages> turn;
  for (int part = row / queries; part * queries < shape.tokens; ++part) {
    Barrier& full = shared.full[turn.stage];
    wait(shared.empty[turn.stage], turn.parity ^ 1);
    expect(full, 2 * queries * (Size * sizeof(Bf16) + sizeof(float)));
    load_tile<queries, Size>(maps.query, full, shared.query[turn.stage], part * queries, at.head, at.batch);
    load_tile<queries, Size>(maps.gradient, full, shared.gradient[turn.stage], part * queries, at.head, at.batch);
    load_line(lines_of(lines, shape, at, part), full, shared.lines[turn.stage], 2 * queries * sizeof(float));
    turn.advance();
  }
}

template <int Size>
__device__ void compute_for_keys(KeysShared<Size>& shared, const BackwardMaps& maps, const AttentionShape& shape,
                                 const AttentionPlace& at) {
  constexpr int queries = KeysShared<Size>::queries;
  const int group = warp_group() - 1;
  const float scale = shape.scale * log2_of_e;
  const Fragment own;
  Bf16 *const key = shared.key + group * 64 * slab, *const value = shared.value + group * 64 * slab;
  float of_key[Size / 2] = {}, of_value[Size / 2] = {}, weights[queries / 2], slopes[queries / 2];
  std::uint32_t left[queries / 4];
  Turn<KeysShared<Size>::stages> turn;
  const int row = at.turn * tile_rows + group * 64;

  wait(shared.own_full, 0);
  int before = -1;  // the stage that products may still read
  const auto step = [&](int part, auto masked) {
    const int stage = turn.stage;
    wait(shared.full[stage], turn.parity);
    begin_products();
    multiply_tiles<Size, tile_rows, queries>(weights, key, shared.query[stage]);
    end_products();
    multiply_tiles<Size, tile_rows, queries>(slopes, value, shared.gradient[stage]);
    end_products();
    wait_for_products<1>();
    settle(weights);
    if (before >= 0) release(shared.empty[before]);
    const float* const lines = shared.lines[stage];
#pragma unroll
    for (int i = 0; i < queries / 2; i += 4) {
      const float2 less = *reinterpret_cast<const float2*>(lines + i * 2 + own.column);
      weights[i] = exp2_of(fmaf(weights[i], scale, -less.x));
      weights[i + 1] = exp2_of(fmaf(weights[i + 1], scale, -less.y));
      weights[i + 2] = exp2_of(fmaf(weights[i + 2], scale, -less.x));
      weights[i + 3] = exp2_of(fmaf(weights[i + 3], scale, -less.y));
    }
    const int ahead = part * queries - row;  // of the first query before the group's first key
    if constexpr (masked.value) {
#pragma unroll
      for (int i = 0; i < queries / 2; ++i) {
        const int query = ahead + own.column + i % 2 + i / 4 * 8;
        if (own.row + i / 2 % 2 * 8 > query) weights[i] = 0;
      }
    }
    pack(weights, left);
    begin_products();
    add_product<queries, Size>(of_value, left, shared.gradient[stage]);
    end_products();
    wait_for_products<1>();
    settle(slopes);
#pragma unroll
    for (int i = 0; i < queries / 2; i += 4) {
      const float2 less = *reinterpret_cast<const float2*>(lines + queries + i * 2 + own.column);
      slopes[i] = weights[i] * (slopes[i] - less.x);
      slopes[i + 1] = weights[i + 1] * (slopes[i + 1] - less.y);
      slopes[i + 2] = weights[i + 2] * (slopes[i + 2] - less.x);
      slopes[i + 3] = weights[i + 3] * (slopes[i + 3] - less.y);
    }
    wait_for_products<0>();
    pack(slopes, left);
    begin_products();
    add_product<queries, Size>(of_key, left, shared.query[stage]);
    end_products();
    before = stage;
    turn.advance();
  };
  int part = at.turn * tile_rows / queries;
  for (int i = 0; i < 2 && part * queries < shape.tokens; ++i, ++part) step(part, std::true_type());
  for (; part * queries < shape.tokens; ++part) step(part, std::false_type());
  wait_for_products<0>();
  settle(of_key);
  settle(of_value);
  store_rows<Size>(maps.of_key, of_key, shape.scale, shape.scale, key, row, at.head, at.batch, group + 1);
  store_rows<Size>(maps.of_value, of_value, 1, 1, value, row, at.head, at.batch, group + 1);
}

template <int Size>
__global__ void __launch_bounds__(attention_threads, 1)
    attention_by_keys(const __grid_constant__ BackwardMaps maps, AttentionShape shape, const float* lines) {
  auto& shared = shared_memory<KeysShared<Size>>();
  if (threadIdx.x == 0) {
    make_barrier(shared.own_full, 1);
    make_barriers(shared.full, shared.empty);
    publish_barriers();
  }
  __syncthreads();
  const AttentionPlace at(shape, static_cast<int>(blockIdx.x));
  if (threadIdx.x < 128) {
    leave_registers();
    if (threadIdx.x == 0) copy_for_keys<Size>(shared, maps, shape, at, lines);
  } else {
    take_registers();
    compute_for_keys<Size>(shared, maps, shape, at);
  }
}

}  // namespace transformer::cuda
