// The gradients of attention, without scores in memory: FlashAttention-2 (Dao 2023), algorithm 2, in two kernels,
// one by tiles of keys and one by tiles of queries. Scores are made in both, 7 products rather than 5, but no
// sum is one of several blocks, so that each has one order; and what the second product of a chain reads is in
// the registers of those who made it:
//
//   P = exp(scale Q K' - L), dP = dO V', D = rowsum(dO * O), dS = P * (dP - D)
//   dV = P' dO, dK = scale dS' Q       by keys, from P' and dS'
//   dQ = scale dS K                    by queries
//
// L and D are in `lines`, for each 64 queries of a head 64 L (of base 2) and 64 D; beyond the last query they
// are infinite and 0, so that P is 0 there.
#pragma once

#include "transformer/cuda_attention.cuh"

namespace transformer::cuda {

constexpr int line_rows = 64;  ///< queries of which L and D are adjacent

struct BackwardMaps {
  CUtensorMap query, key, value, gradient;  ///< `gradient` of what came out
  CUtensorMap of_query, of_key, of_value;
};

__device__ inline const float* lines_of(const float* lines, const AttentionShape& shape,
                                        const AttentionPlace& at, int part) {
  const std::int64_t parts = tile_rows / line_rows * shape.tiles();
  return lines + (at.number * parts + part) * 2 * line_rows;
}

/// Numbers of 16 bits, token by token.
struct StridedRows {
  const Bf16* data;
  std::int64_t batch, head, token;

  __device__ const Bf16* row(const AttentionShape& shape, std::int64_t number, std::int64_t at) const {
    return data + number / shape.heads * batch + number % shape.heads * head + at * token;
  }
};

/// 16 threads a query.
__global__ void __launch_bounds__(256)
    attention_lines(StridedRows context, StridedRows gradient, AttentionShape shape, int size,
                    const float* logarithms, float* lines) {
  const std::int64_t padded = static_cast<std::int64_t>(tile_rows) * shape.tiles();
  const std::int64_t query = (static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x) / 16;
  const std::int64_t number = query / padded, token = query % padded;
  const int first = static_cast<int>(threadIdx.x) % 16 * 8;
  const bool there = token < shape.tokens;
  float sum = 0;
  if (there && first < size) {
    const uint4 a = *reinterpret_cast<const uint4*>(context.row(shape, number, token) + first);
    const uint4 b = *reinterpret_cast<const uint4*>(gradient.row(shape, number, token) + first);
    const auto *const x = reinterpret_cast<const Bf16*>(&a), *const y = reinterpret_cast<const Bf16*>(&b);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += __bfloat162float(x[i]) * __bfloat162float(y[i]);
  }
#pragma unroll
  for (int lane = 8; lane > 0; lane /= 2) sum += __shfl_xor_sync(~0u, sum, lane);
  if (first != 0) return;
  float* const line = lines + query / line_rows * 2 * line_rows + query % line_rows;
  line[0] = there ? logarithms[number * shape.tokens + token] * log2_of_e : INFINITY;
  line[line_rows] = sum;
}

}  // namespace transformer::cuda
