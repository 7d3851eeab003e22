#include "kernels/host/number_runs.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "base/check.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace partita::kernels {
namespace {

template <class Small>
void widen_each(const std::byte* __restrict from, float* __restrict to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    decltype(Small::bits) bits = 0;
    std::memcpy(&bits, from + static_cast<std::int64_t>(sizeof bits) * i, sizeof bits);
    to[i] = to_float(Small::from_bits(bits));
  }
}

template <class Small>
void narrow_each(const float* __restrict from, std::byte* __restrict to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = from_float<Small>(from[i]).bits;
    std::memcpy(to + static_cast<std::int64_t>(sizeof bits) * i, &bits, sizeof bits);
  }
}

#if defined(__x86_64__)

// Eight at a time; returns how many are done.
__attribute__((target("avx,f16c"))) std::int64_t widen_eights(const std::byte* from, float* to,
                                                              std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
  return i;
}

__attribute__((target("avx,f16c"))) std::int64_t narrow_eights(const float* from, std::byte* to,
                                                               std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i), halves);
  }
  return i;
}

// clang 14 does not know the name "f16c", so the bit is read directly; "avx2" also says that the system saves
// the wide registers.
bool has_eights() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  }();
  return has;
}

#endif

template <class T, class S>
T converted(S value) {
  if constexpr (is_small_float_type<S>) {
    return static_cast<T>(to_float(value));
  } else if constexpr (is_small_float_type<T>) {
    return from_float<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T, class S>
void load(const S* from, std::int64_t step, std::int64_t count, T* to) {
  if (step == 0) {
    std::fill_n(to, count, converted<T>(*from));
  } else if (step == 1) {
    if constexpr (is_small_float_type<S> && std::is_same_v<T, float>) {
      widen(reinterpret_cast<const std::byte*>(from), to, count, S{});
    } else if constexpr (std::is_same_v<S, T>) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = converted<T>(from[i]);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = converted<T>(from[i * step]);
  }
}

template <class T, class S>
void store(const T* from, std::int64_t count, S* to, std::int64_t step) {
  if (step == 1) {
    if constexpr (is_small_float_type<S> && std::is_same_v<T, float>) {
      narrow(from, reinterpret_cast<std::byte*>(to), count, S{});
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = converted<S>(from[i]);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i * step] = converted<S>(from[i]);
  }
}

/// Calls body with a value of each type that can be computed with in T, if `dtype` is that type.
template <class T, class Body>
void visit_number(Dtype dtype, Body&& body) {
  if constexpr (std::is_floating_point_v<T>) {
    if (dtype == Dtype::f32) return body(float{});
    if (dtype == Dtype::f64) return body(double{});
    if (dtype == Dtype::f16) return body(Float16{});
    if (dtype == Dtype::bf16) return body(BFloat16{});
    if (dtype == Dtype::f8e4m3) return body(Float8E4M3{});
    if (dtype == Dtype::f8e5m2) return body(Float8E5M2{});
    if constexpr (std::is_same_v<T, float>) {
      if (dtype == Dtype::i8) return body(std::int8_t{});
    }
  } else if constexpr (std::is_integral_v<T>) {
    if (dtype == Dtype::i32) return body(std::int32_t{});
  } else {
    if (dtype == Dtype::c64) return body(std::complex<float>{});
    if (dtype == Dtype::c128) return body(std::complex<double>{});
  }
  invariant(false, "arithmetic in {} is not supported", name(dtype));
}

}  // namespace

template <class Small>
void widen(const std::byte* from, float* to, std::int64_t count, Small /*kind*/) {
  std::int64_t done = 0;
#if defined(__x86_64__)
  if constexpr (std::is_same_v<Small, Float16>) {
    if (has_eights()) done = widen_eights(from, to, count);
  }
#endif
  widen_each<Small>(from + static_cast<std::int64_t>(sizeof(Small)) * done, to + done, count - done);
}

template <class Small>
void narrow(const float* from, std::byte* to, std::int64_t count, Small /*kind*/) {
  std::int64_t done = 0;
#if defined(__x86_64__)
  if constexpr (std::is_same_v<Small, Float16>) {
    if (has_eights()) done = narrow_eights(from, to, count);
  }
#endif
  narrow_each<Small>(from + done, to + static_cast<std::int64_t>(sizeof(Small)) * done, count - done);
}

#define PARTITA_CONVERSIONS(Small)                                    \
  template void widen(const std::byte*, float*, std::int64_t, Small); \
  template void narrow(const float*, std::byte*, std::int64_t, Small);
PARTITA_CONVERSIONS(Float16)
PARTITA_CONVERSIONS(BFloat16)
PARTITA_CONVERSIONS(Float8E4M3)
PARTITA_CONVERSIONS(Float8E5M2)
#undef PARTITA_CONVERSIONS

bool computes_in(Dtype dtype, Dtype computed) {
  if (is_integer(computed)) return dtype == Dtype::i32 && computed == Dtype::i32;
  const bool floating = dtype >= Dtype::f16;
  return floating && computed >= Dtype::f32 && is_complex(dtype) == is_complex(computed);
}

template <class T>
void load_run(const std::byte* from, Dtype dtype, std::int64_t offset, std::int64_t step, std::int64_t count,
              T* to) {
  if (count == 0) return;
  visit_number<T>(dtype, [&](auto number) {
    load(reinterpret_cast<const decltype(number)*>(from) + offset, step, count, to);
  });
}

template <class T>
void load_table(const std::byte* from, Dtype dtype, const std::int64_t* table, std::int64_t count, T* to) {
  visit_number<T>(dtype, [&](auto number) {
    const auto* const numbers = reinterpret_cast<const decltype(number)*>(from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = converted<T>(numbers[table[i]]);
  });
}

template <class T>
void store_run(const T* from, std::int64_t count, std::byte* to, Dtype dtype, std::int64_t offset,
               std::int64_t step) {
  visit_number<T>(dtype, [&](auto number) {
    store(from, count, reinterpret_cast<decltype(number)*>(to) + offset, step);
  });
}

template <class T>
using Pointer = T*;

#define PARTITA_RUNS(T)                                                                                  \
  template void load_run(const std::byte*, Dtype, std::int64_t, std::int64_t, std::int64_t, Pointer<T>); \
  template void load_table(const std::byte*, Dtype, const std::int64_t*, std::int64_t, Pointer<T>);      \
  template void store_run(Pointer<const T>, std::int64_t, std::byte*, Dtype, std::int64_t, std::int64_t);
PARTITA_RUNS(std::int32_t)
PARTITA_RUNS(float)
PARTITA_RUNS(double)
PARTITA_RUNS(std::complex<float>)
PARTITA_RUNS(std::complex<double>)
#undef PARTITA_RUNS

}  // namespace partita::kernels
