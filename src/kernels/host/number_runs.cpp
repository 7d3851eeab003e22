#include "kernels/host/number_runs.hpp"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "base/check.hpp"
#include "base/half.hpp"
#include "kernels/host/half_runs.hpp"

namespace partita {
namespace {

template <class T, class S>
T converted(S value) {
  if constexpr (is_half_type<S>) {
    return static_cast<T>(to_float(value));
  } else if constexpr (is_half_type<T>) {
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
    if constexpr (is_half_type<S> && std::is_same_v<T, float>) {
      widen(reinterpret_cast<const std::byte*>(from), to, count, S{});
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
    if constexpr (is_half_type<S> && std::is_same_v<T, float>) {
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
  } else {
    if (dtype == Dtype::c64) return body(std::complex<float>{});
    if (dtype == Dtype::c128) return body(std::complex<double>{});
  }
  invariant(false, "{} is not computed with in this type", name(dtype));
}

}  // namespace

bool computes_in(Dtype dtype, Dtype computed) {
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
  template void store_run(Pointer<const T>, std::int64_t, std::byte*, Dtype, std::int64_t, std::int64_t);
PARTITA_RUNS(float)
PARTITA_RUNS(double)
PARTITA_RUNS(std::complex<float>)
PARTITA_RUNS(std::complex<double>)
#undef PARTITA_RUNS

}  // namespace partita
