// The gradient of queries, a block a tile of queries: see cuda_attention_backward.cuh.
#pragma once

#include "transformer/cuda_attention_backward.cuh"

namespace transformer::cuda {

template <int Size>
struct QueriesShared {
  static constexpr int stages = 3, keys = 64;
  alignas(1024) Bf16 query[tile_rows * Size];
  Bf16 gradient[tile_rows * Size];
  Bf16 key[stages][keys * Size];
  Bf16 value[stages][keys * Size];
  Barrier own_full, full[stages], empty[stages];
};

template <int Size>
__device__ void copy_for_queries(QueriesShared<Size>& shared, const BackwardMaps& maps,
                                 const AttentionPlace& at, int tile) {
  constexpr int keys = QueriesShared<Size>::keys;
  expect(shared.own_full, 2 * tile_rows * Size * sizeof(Bf16));
  load_tile<tile_rows, Size>(maps.query, shared.own_full, shared.query, tile * tile_rows, at.head, at.batch);
  load_tile<tile_rows, Size>(maps.gradient, shared.own_full, shared.gradient, tile * tile_rows, at.head, at.batch);
  Turn<QueriesShared<Size>::stages> turn;
  for (int first = (tile + 1) * tile_rows - keys; first >= 0; first -= keys) {
    Barrier& full = shared.full[turn.stage];
    wait(shared.empty[turn.stage], turn.parity ^ 1);
    expect(full, 2 * keys * Size * sizeof(Bf16));
    load_tile<keys, Size>(maps.key, full, shared.key[turn.stage], first, at.head, at.batch);
    load_tile<keys, Size>(maps.value, full, shared.value[turn.stage], first, at.head, at.batch);
    turn.advance();
  }
}

template <int Size>
__device__ void compute_for_queries(QueriesShared<Size>& shared, const BackwardMaps& maps,
                                    const AttentionShape& shape, const AttentionPlace& at, int tile,
                                    const float* lines) {
  constexpr int keys = QueriesShared<Size>::keys;
  const int group = warp_group() - 1;
  const float scale = shape.scale * log2_of_e;
  const Fragment own;
  Bf16 *const query = shared.query + group * 64 * slab, *const gradient = shared.gradient + group * 64 * slab;
  const float* const line = lines_of(lines, shape, at, tile * (tile_rows / line_rows) + group) + own.row;
  const float less[2] = {line[0], line[8]}, mean[2] = {line[line_rows], line[line_rows + 8]};
  float of_query[Size / 2] = {}, weights[keys / 2], slopes[keys / 2];
  std::uint32_t left[keys / 4];
  Turn<QueriesShared<Size>::stages> turn, before;  // of what comes, and of what products may still read
  const int row = tile * tile_rows + group * 64;

  wait(shared.own_full, 0);
  for (int first = (tile + 1) * tile_rows - keys; first >= 0; first -= keys) {
    const int stage = turn.stage;
    wait(shared.full[stage], turn.parity);
    begin_products();
    multiply_tiles<Size, tile_rows, keys>(weights, query, shared.key[stage]);
    end_products();
    multiply_tiles<Size, tile_rows, keys>(slopes, gradient, shared.value[stage]);
    end_products();
    wait_for_products<1>();
    settle(weights);
    if (first + keys < (tile + 1) * tile_rows) {
      release(shared.empty[before.stage]);
      before.advance();
    }
#pragma unroll
    for (int i = 0; i < keys / 2; ++i) weights[i] = exp2_of(fmaf(weights[i], scale, -less[i / 2 % 2]));
    if (first + keys > row) {
#pragma unroll
      for (int i = 0; i < keys / 2; ++i) {
        const int key = first + own.column + i % 2 + i / 4 * 8;
        if (key > row + own.row + i / 2 % 2 * 8) weights[i] = 0;
      }
    }
    wait_for_products<0>();
    settle(slopes);
#pragma unroll
    for (int i = 0; i < keys / 2; i += 2) {
      const float d = mean[i / 2 % 2];
      left[i / 2] = pack(weights[i] * (slopes[i] - d), weights[i + 1] * (slopes[i + 1] - d));
    }
    begin_products();
    add_product<keys, Size>(of_query, left, shared.key[stage]);
    end_products();
    turn.advance();
  }
  wait_for_products<0>();
  settle(of_query);
  store_rows<Size>(maps.of_query, of_query, shape.scale, shape.scale, query, row, at.head, at.batch, group + 1);
}

template <int Size>
__global__ void __launch_bounds__(attention_threads, 1)
    attention_by_queries(const __grid_constant__ BackwardMaps maps, AttentionShape shape, const float* lines) {
  auto& shared = shared_memory<QueriesShared<Size>>();
  if (threadIdx.x == 0) {
    make_barrier(shared.own_full, 1);
    make_barriers(shared.full, shared.empty);
    publish_barriers();
  }
  __syncthreads();
  const AttentionPlace at(shape, static_cast<int>(blockIdx.x));
  const int tile = shape.tiles() - 1 - at.turn;
  if (threadIdx.x < 128) {
    leave_registers();
    if (threadIdx.x == 0) copy_for_queries<Size>(shared, maps, at, tile);
  } else {
    take_registers();
    compute_for_queries<Size>(shared, maps, shape, at, tile, lines);
  }
}

}  // namespace transformer::cuda
