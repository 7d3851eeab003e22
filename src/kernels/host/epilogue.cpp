#include "kernels/host/epilogue.hpp"

#include <bit>
#include <cstdint>

namespace partita::kernels {
namespace {

template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  using Bits = std::uint32_t;
  static constexpr float magic = 0x1.8p23F;  // adding it rounds to an integer, which is then in the low bits
  static constexpr int mantissa_bits = 23;
  static constexpr Bits exponent_bias = 127;
  static constexpr float least = -87.0F, most = 88.0F;
  static constexpr float ln2_high = 0x1.62e4p-1F, ln2_low = 0x1.7f7d1cp-20F;
  static constexpr int degree = 7;
};

template <>
struct ExpConstants<double> {
  using Bits = std::uint64_t;
  static constexpr double magic = 0x1.8p52;
  static constexpr int mantissa_bits = 52;
  static constexpr Bits exponent_bias = 1023;
  static constexpr double least = -708.0, most = 709.0;
  static constexpr double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b39p-40;
  static constexpr int degree = 13;
};

// The terms of the exponential series: 1 + r (1 + r/2 (1 + r/3 (...))).
template <class T, int term>
T series(T r) {
  if constexpr (term > ExpConstants<T>::degree) {
    return T(1);
  } else {
    return T(1) + r * T(1.0 / term) * series<T, term + 1>(r);
  }
}

// exp(x) = 2^n exp(r), x = n ln 2 + r, |r| <= ln(2)/2 (Cody and Waite 1980); no branch and no call, so that
// loops around it vectorise: GCC does not inline it unless forced, and makes branches of comparisons that
// might trap (CMakeLists.txt says that they do not). Clamped to the range of normal numbers; NaN
// passes.
template <class T>
[[gnu::always_inline]] inline T exponential(T x) {
  using C = ExpConstants<T>;
  x = x < C::least ? C::least : x;
  x = x > C::most ? C::most : x;
  const T shifted = x * T(1.4426950408889634074) + C::magic;
  const T n = shifted - C::magic;
  const T r = (x - n * C::ln2_high) - n * C::ln2_low;
  const auto bits = std::bit_cast<typename C::Bits>(shifted);
  const auto power = std::bit_cast<T>((bits + C::exponent_bias) << C::mantissa_bits);
  return power * series<T, 1>(r);
}

// 1/2 (1 + tanh y) = 1 / (1 + exp(-2 y)),  y = sqrt(2/pi) (x + 0.044715 x^3)
constexpr double twice_root = 2 * 0.79788456080286535588;
constexpr double cubic = 0.044715;

// Beyond it gelu is 0 or x, and powers of x overflow.
template <class T>
T at_least(T x, T least) {
  return x < least ? least : x;
}

template <class T>
[[gnu::always_inline]] inline T decay(T x) {
  return exponential(-T(twice_root) * (x + T(cubic) * x * x * x));
}

template <class T>
[[gnu::always_inline]] inline T gelu(T x) {
  return at_least(x, T(-100)) / (T(1) + decay(x));
}

template <class T>
[[gnu::always_inline]] inline T gelu_derivative(T x) {
  x = at_least(x, T(-100));
  x = x > T(100) ? T(100) : x;
  const T e = decay(x);
  const T s = T(1) / (T(1) + e);
  return s + x * s * (e * s) * T(twice_root) * (T(1) + T(3 * cubic) * x * x);
}

template <class T>
[[gnu::always_inline]] inline void run(Activation activation, T* values, const T* auxiliary,
                                       std::int64_t count) {
  switch (activation) {
    case Activation::identity:
      return;
    case Activation::relu:
      for (std::int64_t i = 0; i < count; ++i) values[i] = values[i] < T(0) ? T(0) : values[i];
      return;
    case Activation::gelu:
      for (std::int64_t i = 0; i < count; ++i) values[i] = gelu(values[i]);
      return;
    case Activation::drelu:
      for (std::int64_t i = 0; i < count; ++i) values[i] = auxiliary[i] > T(0) ? values[i] : T(0);
      return;
    case Activation::dgelu:
      for (std::int64_t i = 0; i < count; ++i) values[i] *= gelu_derivative(auxiliary[i]);
      return;
  }
}

template <class T>
void run_portable(Activation activation, T* values, const T* auxiliary, std::int64_t count) {
  run(activation, values, auxiliary, count);
}

#if defined(__x86_64__)
// Wider vectors, the same bits: nothing is contracted to fused operations.
template <class T>
__attribute__((target("avx2"))) void run_avx2(Activation activation, T* values, const T* auxiliary,
                                              std::int64_t count) {
  run(activation, values, auxiliary, count);
}

template <class T>
__attribute__((target("avx512f,avx512dq"))) void run_avx512(Activation activation, T* values,
                                                            const T* auxiliary, std::int64_t count) {
  run(activation, values, auxiliary, count);
}

template <class T>
auto* widest() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return run_avx512<T>;
  return __builtin_cpu_supports("avx2") ? run_avx2<T> : run_portable<T>;
}
#else
template <class T>
auto* widest() {
  return run_portable<T>;
}
#endif

}  // namespace

template <class T>
void activate(Activation activation, T* values, const T* auxiliary, std::int64_t count) {
  static auto* const run_here = widest<T>();
  run_here(activation, values, auxiliary, count);
}

template void activate(Activation, float*, const float*, std::int64_t);
template void activate(Activation, double*, const double*, std::int64_t);

}  // namespace partita::kernels
