#include "kernels/host/half_runs.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace partita {
namespace {

template <class Half>
void widen_each(const std::byte* __restrict from, float* __restrict to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + 2 * i, sizeof bits);
    to[i] = to_float(Half{bits});
  }
}

template <class Half, Half (*round)(float)>
void narrow_each(const float* __restrict from, std::byte* __restrict to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint16_t bits = round(from[i]).bits;
    std::memcpy(to + 2 * i, &bits, sizeof bits);
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
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  }();
  return has;
}

#else

std::int64_t widen_eights(const std::byte*, float*, std::int64_t) {
  return 0;
}

std::int64_t narrow_eights(const float*, std::byte*, std::int64_t) {
  return 0;
}

bool has_eights() {
  return false;
}

#endif

}  // namespace

void widen(const std::byte* from, float* to, std::int64_t count, Float16) {
  const std::int64_t done = has_eights() ? widen_eights(from, to, count) : 0;
  widen_each<Float16>(from + 2 * done, to + done, count - done);
}

void widen(const std::byte* from, float* to, std::int64_t count, BFloat16) {
  widen_each<BFloat16>(from, to, count);
}

void narrow(const float* from, std::byte* to, std::int64_t count, Float16) {
  const std::int64_t done = has_eights() ? narrow_eights(from, to, count) : 0;
  narrow_each<Float16, to_float16>(from + done, to + 2 * done, count - done);
}

void narrow(const float* from, std::byte* to, std::int64_t count, BFloat16) {
  narrow_each<BFloat16, to_bfloat16>(from, to, count);
}

}  // namespace partita
