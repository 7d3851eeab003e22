// Attention without scores in memory, on devices of compute capability 9.0: see cuda_attention_forward.cuh
// and cuda_attention_backward.cuh. Compiled for these alone.
#include <string>

#include "device/cuda_check.hpp"
#include "transformer/cuda_attention_by_keys.cuh"
#include "transformer/cuda_attention_by_queries.cuh"
#include "transformer/cuda_attention_forward.cuh"
#include "transformer/cuda_common.cuh"
#include "transformer/kernel_forms.hpp"

namespace transformer::cuda {
namespace pt = partita;
using on_device::cuda::check;
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

/// Of the driver, which programs are not linked with.
Encode encode() {
  static const Encode found = [] {
    void* symbol = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &symbol, 12000, cudaEnableDefault,
                                           &result),
          "the driver does not support tensor maps");
    return reinterpret_cast<Encode>(symbol);
  }();
  return found;
}

/// Of [batch, heads, tokens, size], by boxes of 64 tokens and numbers.
CUtensorMap map_of(const pt::View& view) {
  const auto stride = [&](std::size_t i) { return static_cast<cuuint64_t>(view.strides[i]) * sizeof(Bf16); };
  const auto extent = [&](std::size_t i) { return static_cast<cuuint64_t>(view.extents[i]); };
  const cuuint64_t extents[4] = {extent(3), extent(2), extent(1), extent(0)};
  const cuuint64_t strides[3] = {stride(2), stride(1), stride(0)};
  const cuuint32_t box[4] = {slab, slab, 1, 1}, steps[4] = {1, 1, 1, 1};
  CUtensorMap map;
  const CUresult result = encode()(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, view.data, extents, strides,
                                   box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw pt::Error("cannot make a tensor map: error " + std::to_string(static_cast<int>(result)) +
                    " of CUDA");
  return map;
}

StridedRows rows_of(const pt::View& view) {
  return {data<const Bf16>(view), view.strides[0], view.strides[1], view.strides[2]};
}

AttentionShape shape_of(const pt::View& query, double scale) {
  const std::int64_t size = query.extents[3];
  if (query.dtype != pt::Dtype::bf16 || size > 128 || size % 8 != 0)
    throw pt::UnsupportedError("transformer: fused attention is for bf16 and heads of 8, 16, .. 128 numbers");
  constexpr int together = 8;  // of 8192 tokens of 128 numbers they take 32 MB of a cache of 60
  return {static_cast<int>(query.extents[2]), static_cast<int>(query.extents[1]),
          static_cast<int>(query.extents[0]), together, static_cast<float>(scale)};
}

template <class Shared, class... Arguments>
void start(void (*kernel)(Arguments...), const AttentionShape& shape, void* stream, Arguments... arguments) {
  constexpr int bytes = sizeof(Shared) + 1024;  // so that it can begin at a multiple of that
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "too little shared memory");
  kernel<<<static_cast<unsigned>(shape.blocks()), attention_threads, bytes,
           static_cast<cudaStream_t>(stream)>>>(arguments...);
}

/// Calls f(N): the numbers of a head fill N, or what is beyond them is 0.
template <class F>
void with_size(const pt::View& query, F&& f) {
  if (query.extents[3] <= 64) return f(std::integral_constant<int, 64>());
  f(std::integral_constant<int, 128>());
}

}  // namespace

bool has_fused_attention(int device) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "the device does not exist");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
        "the device does not exist");
  return major == 9 && minor == 0;
}

void causal_attention(const AttentionViews& arrays, double scale, void* stream) {
  const AttentionShape shape = shape_of(arrays.query, scale);
  if (shape.blocks() == 0) return;
  const ForwardMaps maps{map_of(arrays.query), map_of(arrays.key), map_of(arrays.value),
                         map_of(arrays.context)};
  with_size(arrays.query, [&]<int Size>(std::integral_constant<int, Size>) {
    start<ForwardShared<Size>>(attention_forward<Size>, shape, stream, maps, shape,
                               data<float>(arrays.logarithms));
  });
}

void causal_attention_backward(const AttentionViews& arrays, const AttentionGradient& gradient, double scale,
                               void* stream) {
  const AttentionShape shape = shape_of(arrays.query, scale);
  if (shape.blocks() == 0) return;
  auto* const lines = data<float>(gradient.lines);
  // 16 queries a block, those beyond the last one too.
  attention_lines<<<static_cast<unsigned>(shape.blocks() * (tile_rows / 16)), 256, 0,
                    static_cast<cudaStream_t>(stream)>>>(rows_of(arrays.context), rows_of(gradient.context),
                                                         shape, static_cast<int>(arrays.query.extents[3]),
                                                         data<float>(arrays.logarithms), lines);
  const BackwardMaps maps{map_of(arrays.query),     map_of(arrays.key),     map_of(arrays.value),
                          map_of(gradient.context), map_of(gradient.query), map_of(gradient.key),
                          map_of(gradient.value)};
  with_size(arrays.query, [&]<int Size>(std::integral_constant<int, Size>) {
    const float* const read = lines;
    start<KeysShared<Size>>(attention_by_keys<Size>, shape, stream, maps, shape, read);
    start<QueriesShared<Size>>(attention_by_queries<Size>, shape, stream, maps, shape, read);
  });
}

}  // namespace transformer::cuda
