// to = scale_d activation(scale_a scale_b scale from + beta c + bias) on a device, a thread an element, or
// four adjacent ones of f32 and 16 bits where layouts allow, with the rules of execute/works/epilogue.cpp.
// Intermediate values are of the type of the computation.
#include <cuda_fp8.h>

#include "kernels/cuda/epilogue_launch.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

enum Part { from, to, c, auxiliary, bias, scale_a, scale_b };
constexpr int parts_without_scales = scale_a;

template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T>;

/// Whose sums and products wrap around.
using Integer = std::int32_t;

__device__ constexpr Integer wrapped(std::uint32_t bits) {
  return static_cast<Integer>(bits);
}

template <class T>
__device__ T load_number(const ElementPass& pass, int part, std::int64_t at) {
  if constexpr (std::is_same_v<T, float>) {
    if (pass.dtypes[part] == Dtype::f16) return __half2float(static_cast<const __half*>(pass.data[part])[at]);
    if (pass.dtypes[part] == Dtype::bf16)
      return __bfloat162float(static_cast<const __nv_bfloat16*>(pass.data[part])[at]);
    if (pass.dtypes[part] == Dtype::f8e4m3)
      return static_cast<float>(static_cast<const __nv_fp8_e4m3*>(pass.data[part])[at]);
    if (pass.dtypes[part] == Dtype::f8e5m2)
      return static_cast<float>(static_cast<const __nv_fp8_e5m2*>(pass.data[part])[at]);
  }
  return static_cast<const T*>(pass.data[part])[at];
}

template <class T>
__device__ void store_number(const ElementPass& pass, int part, std::int64_t at, T value) {
  if constexpr (std::is_same_v<T, float>) {
    if (pass.dtypes[part] == Dtype::f16) {
      static_cast<__half*>(pass.data[part])[at] = __float2half_rn(value);
      return;
    }
    if (pass.dtypes[part] == Dtype::bf16) {
      static_cast<__nv_bfloat16*>(pass.data[part])[at] = __float2bfloat16_rn(value);
      return;
    }
    // Numbers of 8 bits go as far as they go, infinities too.
    if (pass.dtypes[part] == Dtype::f8e4m3 || pass.dtypes[part] == Dtype::f8e5m2) {
      const auto kind = pass.dtypes[part] == Dtype::f8e4m3 ? __NV_E4M3 : __NV_E5M2;
      static_cast<__nv_fp8_storage_t*>(pass.data[part])[at] =
          __nv_cvt_float_to_fp8(value, __NV_SATFINITE, kind);
      return;
    }
  }
  static_cast<T*>(pass.data[part])[at] = value;
}

template <class T>
__device__ T scaled(T value, double scale) {
  if constexpr (is_real<T> || std::is_same_v<T, Integer>) {
    return value * static_cast<T>(scale);
  } else {
    using Real = decltype(value.real);
    return {value.real * static_cast<Real>(scale), value.imaginary * static_cast<Real>(scale)};
  }
}

template <class T>
__device__ T factor(const double (&beta)[2]) {
  if constexpr (is_real<T> || std::is_same_v<T, Integer>) {
    return static_cast<T>(beta[0]);
  } else {
    using Real = decltype(T{}.real);
    return {static_cast<Real>(beta[0]), static_cast<Real>(beta[1])};
  }
}

template <class T>
__device__ T sum(T a, T b) {
  if constexpr (std::is_same_v<T, Integer>) {
    return wrapped(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  } else if constexpr (is_real<T>) {
    return a + b;
  } else {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
}

template <class T>
__device__ T product(T a, T b) {
  if constexpr (std::is_same_v<T, Integer>) {
    return wrapped(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
  } else if constexpr (is_real<T>) {
    return a * b;
  } else {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
}

// 1/2 (1 + tanh y) = 1 / (1 + exp(-2 y)),  y = sqrt(2/pi) (x + 0.044715 x^3)
constexpr double twice_root = 2 * 0.79788456080286535588;
constexpr double cubic = 0.044715;

template <class T>
__device__ T decay(T x) {
  return exp(-T(twice_root) * (x + T(cubic) * x * x * x));
}

/// Beyond it gelu is 0 or x, and powers of x overflow.
template <class T>
__device__ T at_least(T x, T least) {
  return x < least ? least : x;
}

template <class T>
__device__ T gelu_derivative(T x) {
  x = at_least(x, T(-100));
  x = x > T(100) ? T(100) : x;
  const T e = decay(x);
  const T s = T(1) / (T(1) + e);
  // Where the exponential is infinite, s is 0 and so is what it stands in.
  const T slope = s == T(0) ? T(0) : s * (e * s);
  return s + x * slope * T(twice_root) * (T(1) + T(3 * cubic) * x * x);
}

template <class T>
__device__ T activated(Activation activation, T value, T input) {
  switch (activation) {
    case Activation::identity:
      return value;
    case Activation::relu:
      return value < T(0) ? T(0) : value;
    case Activation::gelu:
      return at_least(value, T(-100)) / (T(1) + decay(value));
    case Activation::drelu:
      return input > T(0) ? value : T(0);
    case Activation::dgelu:
      return value * gelu_derivative(input);
  }
  return value;
}

/// Gives the magnitude of what is written, before scale_d: 0 where there are no scales.
template <class T, int parts>
__device__ float pass_element(const ElementPass& pass, const std::int64_t (&at)[parts]) {
  constexpr bool has_scales = parts > parts_without_scales;
  T value{};
  if (pass.data[from] != nullptr) value = scaled(load_number<T>(pass, from, at[from]), pass.scale);
  if constexpr (has_scales) {
    for (const Part part : {scale_a, scale_b}) {
      if (pass.data[part] != nullptr) value *= load_number<T>(pass, part, at[part]);
    }
  }
  if (pass.data[c] != nullptr) {
    value = sum(value, product(factor<T>(pass.beta), load_number<T>(pass, c, at[c])));
  }
  if (pass.data[bias] != nullptr) value = sum(value, load_number<T>(pass, bias, at[bias]));
  if constexpr (is_real<T>) {
    T input = value;
    const bool backward = pass.activation == Activation::drelu || pass.activation == Activation::dgelu;
    if (backward) {
      input = load_number<T>(pass, auxiliary, at[auxiliary]);
    } else if (pass.data[auxiliary] != nullptr) {
      store_number(pass, auxiliary, at[auxiliary], value);
    }
    value = activated(pass.activation, value, input);
  } else if (pass.data[auxiliary] != nullptr) {
    store_number(pass, auxiliary, at[auxiliary], value);
  }
  float magnitude = 0;
  if constexpr (has_scales) {
    magnitude = fabsf(value);
    if (pass.scale_d != nullptr) value *= *pass.scale_d;
  }
  store_number(pass, to, at[to], value);
  return magnitude;
}

/// gelu for 16 bits, to some roundings of f32: the exponential of 2 and the quotient of the device itself.
__device__ float short_gelu(float x) {
  constexpr double of_two = 1.44269504088896340736;
  constexpr auto linear = static_cast<float>(-twice_root * of_two);
  constexpr auto third = static_cast<float>(-twice_root * of_two * cubic);
  return __fdividef(at_least(x, -100.0F), 1.0F + exp2f(x * (linear + third * (x * x))));
}

constexpr int pack = 4;

struct Pack {
  float items[pack];
};

template <class Half>
__device__ float2 widened(std::uint32_t bits) {
  if constexpr (std::is_same_v<Half, __half>) {
    return __half22float2(*reinterpret_cast<const __half2*>(&bits));
  } else {
    return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&bits));
  }
}
template <class Half>
__device__ std::uint32_t rounded(float low, float high) {
  if constexpr (std::is_same_v<Half, __half>) {
    const __half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&both);
  } else {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&both);
  }
}

/// Numbers side by side of f32 or 16 bits, with one access.
__device__ Pack load_pack(const ElementPass& pass, int part, std::int64_t at) {
  const auto* const bytes = static_cast<const char*>(pass.data[part]);
  if (pass.dtypes[part] == Dtype::f32) {
    const float4 four = *reinterpret_cast<const float4*>(bytes + 4 * at);
    return {four.x, four.y, four.z, four.w};
  }
  const uint2 bits = *reinterpret_cast<const uint2*>(bytes + 2 * at);
  const bool is_half = pass.dtypes[part] == Dtype::f16;
  const float2 low = is_half ? widened<__half>(bits.x) : widened<__nv_bfloat16>(bits.x);
  const float2 high = is_half ? widened<__half>(bits.y) : widened<__nv_bfloat16>(bits.y);
  return {low.x, low.y, high.x, high.y};
}

__device__ void store_pack(const ElementPass& pass, int part, std::int64_t at, const Pack& from) {
  auto* const bytes = static_cast<char*>(pass.data[part]);
  const float(&x)[pack] = from.items;
  if (pass.dtypes[part] == Dtype::f32) {
    *reinterpret_cast<float4*>(bytes + 4 * at) = {x[0], x[1], x[2], x[3]};
  } else if (pass.dtypes[part] == Dtype::f16) {
    *reinterpret_cast<uint2*>(bytes + 2 * at) = {rounded<__half>(x[0], x[1]), rounded<__half>(x[2], x[3])};
  } else {
    *reinterpret_cast<uint2*>(bytes + 2 * at) = {rounded<__nv_bfloat16>(x[0], x[1]),
                                                 rounded<__nv_bfloat16>(x[2], x[3])};
  }
}

/// As `pass_element`, of a pack and an activation that is known; there are no scales.
template <Activation activation>
__device__ void pass_pack(const ElementPass& pass, const std::int64_t (&at)[parts_without_scales]) {
  Pack values{};
  if (pass.data[from] != nullptr) {
    values = load_pack(pass, from, at[from]);
    for (float& value : values.items) value = scaled(value, pass.scale);
  }
  if (pass.data[c] != nullptr) {
    const Pack added = load_pack(pass, c, at[c]);
    const float beta = factor<float>(pass.beta);
    for (int i = 0; i < pack; ++i) values.items[i] = sum(values.items[i], product(beta, added.items[i]));
  }
  if (pass.data[bias] != nullptr) {
    Pack added{};
    if (pass.strides[pass.loops - 1][bias] == 1) {
      added = load_pack(pass, bias, at[bias]);
    } else {
      for (float& one : added.items) one = load_number<float>(pass, bias, at[bias]);
    }
    for (int i = 0; i < pack; ++i) values.items[i] = sum(values.items[i], added.items[i]);
  }
  Pack input = values;
  if constexpr (activation == Activation::drelu || activation == Activation::dgelu) {
    input = load_pack(pass, auxiliary, at[auxiliary]);
  } else if (pass.data[auxiliary] != nullptr) {
    store_pack(pass, auxiliary, at[auxiliary], values);
  }
  const bool short_result = activation == Activation::gelu && pass.dtypes[to] != Dtype::f32;
  for (int i = 0; i < pack; ++i) {
    values.items[i] =
        short_result ? short_gelu(values.items[i]) : activated(activation, values.items[i], input.items[i]);
  }
  store_pack(pass, to, at[to], values);
}

/// Of numbers that are not negative and of NaN, which is the largest: their bits are ordered as they are.
__device__ void keep_largest(float* place, std::int32_t bits) {
  bits = __reduce_max_sync(~0U, bits);
  if (threadIdx.x % warpSize == 0 && bits > 0) atomicMax(reinterpret_cast<std::int32_t*>(place), bits);
}

/// `Number` is 32 bits wide where all elements can be numbered so: division is several times cheaper.
template <class T, class Number, int parts>
__global__ void pass_elements(const __grid_constant__ ElementPass pass, Number elements) {
  std::int32_t largest = 0;
  const Number step = static_cast<Number>(gridDim.x) * blockDim.x;
  for (Number i = static_cast<Number>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
    std::int64_t at[parts] = {};
    Number rest = i;
    for (int l = pass.loops - 1; l >= 0; --l) {
      const Number count = static_cast<Number>(pass.counts[l]);
      const Number whole = l == 0 ? 0 : rest / count;
      const auto here = static_cast<std::int64_t>(rest - whole * count);
      for (int x = 0; x < parts; ++x) at[x] += here * pass.strides[l][x];
      rest = whole;
    }
    largest = max(largest, __float_as_int(pass_element<T>(pass, at)));
  }
  if (parts > parts_without_scales && pass.amax != nullptr) keep_largest(pass.amax, largest);
}

/// Lines of whole packs, one after the other or in one loop more.
template <Activation activation, class Number>
__global__ void pass_packs(const __grid_constant__ ElementPass pass, Number packs) {
  const int last = pass.loops - 1;
  const auto of_line = static_cast<Number>(pass.counts[last] / pack);
  const Number step = static_cast<Number>(gridDim.x) * blockDim.x;
  for (Number i = static_cast<Number>(blockIdx.x) * blockDim.x + threadIdx.x; i < packs; i += step) {
    const Number line = last == 0 ? 0 : i / of_line;
    const auto begin = static_cast<std::int64_t>(i - line * of_line) * pack;
    std::int64_t at[parts_without_scales];
    for (int x = 0; x < parts_without_scales; ++x) {
      at[x] = static_cast<std::int64_t>(line) * (last == 0 ? 0 : pass.strides[0][x]) +
              begin * pass.strides[last][x];
    }
    pass_pack<activation>(pass, at);
  }
}

/// Whether all layouts allow accesses by packs.
bool lies_in_packs(const ElementPass& pass) {
  const int last = pass.loops - 1;
  if (pass.loops < 1 || pass.loops > 2 || pass.counts[last] % pack != 0) return false;
  for (int x = 0; x < parts_without_scales; ++x) {
    if (pass.data[x] == nullptr) continue;
    const Dtype dtype = pass.dtypes[x];
    if (dtype != Dtype::f32 && dtype != Dtype::f16 && dtype != Dtype::bf16) return false;
    if (x == bias && pass.strides[last][x] == 0) continue;
    const std::uintptr_t bytes = pack * (dtype == Dtype::f32 ? 4 : 2);
    if (pass.strides[last][x] != 1 || reinterpret_cast<std::uintptr_t>(pass.data[x]) % bytes != 0)
      return false;
    if (last > 0 && pass.strides[0][x] % pack != 0) return false;
  }
  return true;
}

/// body(std::integral_constant<Activation, ..>()) with the activation: it costs less to know it beforehand
/// than to ask for each number.
template <class Body>
int with_activation(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::relu:
      return body(std::integral_constant<Activation, Activation::relu>());
    case Activation::gelu:
      return body(std::integral_constant<Activation, Activation::gelu>());
    case Activation::drelu:
      return body(std::integral_constant<Activation, Activation::drelu>());
    case Activation::dgelu:
      return body(std::integral_constant<Activation, Activation::dgelu>());
    default:
      return body(std::integral_constant<Activation, Activation::identity>());
  }
}

template <Activation activation>
int start_packs(const ElementPass& pass, cudaStream_t stream) {
  std::int64_t packs = pass.counts[pass.loops - 1] / pack;
  if (pass.loops == 2) packs *= pass.counts[0];
  constexpr std::int64_t most = 4 * most_blocks;
  const std::int64_t wanted = (packs + threads_per_block - 1) / threads_per_block;
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most));
  if (packs <= std::int64_t{1} << 31) {
    pass_packs<activation, std::uint32_t>
        <<<blocks, threads_per_block, 0, stream>>>(pass, static_cast<std::uint32_t>(packs));
  } else {
    pass_packs<activation, std::uint64_t>
        <<<blocks, threads_per_block, 0, stream>>>(pass, static_cast<std::uint64_t>(packs));
  }
  return cudaGetLastError();
}

template <class T, int parts = parts_without_scales>
int start(const ElementPass& pass, cudaStream_t stream) {
  std::int64_t elements = 1;
  for (int l = 0; l < pass.loops; ++l) elements *= pass.counts[l];
  constexpr std::int64_t most = 4 * most_blocks;
  const std::int64_t wanted = (elements + threads_per_block - 1) / threads_per_block;
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most));
  if (elements <= std::int64_t{1} << 31) {
    pass_elements<T, std::uint32_t, parts>
        <<<blocks, threads_per_block, 0, stream>>>(pass, static_cast<std::uint32_t>(elements));
  } else {
    pass_elements<T, std::uint64_t, parts>
        <<<blocks, threads_per_block, 0, stream>>>(pass, static_cast<std::uint64_t>(elements));
  }
  return cudaGetLastError();
}

template <class T, int parts = parts_without_scales>
int load_both() {
  const int result = load(pass_elements<T, std::uint32_t, parts>);
  return result != cudaSuccess ? result : load(pass_elements<T, std::uint64_t, parts>);
}

bool has_scales(const ElementPass& pass) {
  return pass.data[scale_a] != nullptr || pass.data[scale_b] != nullptr || pass.scale_d != nullptr ||
         pass.amax != nullptr;
}

}  // namespace

int launch_pass(const ElementPass& pass, Dtype computed, void* stream) {
  const auto native = static_cast<cudaStream_t>(stream);
  switch (computed) {
    case Dtype::f32:
      if (has_scales(pass)) return start<float, ElementPass::parts>(pass, native);
      if (!lies_in_packs(pass)) return start<float>(pass, native);
      return with_activation(pass.activation,
                             [&](auto activation) { return start_packs<activation>(pass, native); });
    case Dtype::i32:
      return start<Integer>(pass, native);
    case Dtype::f64:
      return start<double>(pass, native);
    case Dtype::c64:
      return start<Complex<float>>(pass, native);
    case Dtype::c128:
      return start<Complex<double>>(pass, native);
    default:
      return cudaErrorInvalidValue;
  }
}

int load_pass_kernels() {
  for (const Activation one :
       {Activation::identity, Activation::relu, Activation::gelu, Activation::drelu, Activation::dgelu}) {
    const int result = with_activation(one, [](auto activation) {
      return load(pass_packs<activation, std::uint32_t>, pass_packs<activation, std::uint64_t>);
    });
    if (result != cudaSuccess) return result;
  }
  for (const auto load_one : {load_both<float>, load_both<float, ElementPass::parts>, load_both<Integer>,
                              load_both<double>, load_both<Complex<float>>, load_both<Complex<double>>}) {
    const int result = load_one();
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
