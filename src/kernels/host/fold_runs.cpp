#include "kernels/host/fold_runs.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>

#include "base/visit_dtype.hpp"
#include "kernels/host/number_rules.hpp"

namespace partita::kernels {
namespace {

#define INLINED __attribute__((always_inline)) inline

/// Partial results of a run, four registers of them or more. GCC does not vectorise loops of 16 and fewer.
template <class E>
constexpr std::size_t lanes = std::max<std::size_t>(32, 128 / sizeof(E));
template <class E>
using Lanes = std::array<E, lanes<E>>;

template <class T>
constexpr bool is_complex_type =
    std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::complex<float>>;

template <class Join>
constexpr bool is_extreme = std::is_same_v<Join, Min> || std::is_same_v<Join, Max>;

template <class E, class Join>
constexpr E identity() {
  if constexpr (std::is_same_v<Join, Sum>) return E(0);
  if constexpr (std::is_same_v<Join, Product>) return E(1);
  if constexpr (is_extreme<Join>) {
    using Limits = std::numeric_limits<E>;
    if constexpr (std::is_floating_point_v<E>) {
      return std::is_same_v<Join, Min> ? Limits::infinity() : -Limits::infinity();
    } else {
      return std::is_same_v<Join, Min> ? Limits::max() : Limits::lowest();
    }
  }
}

/// Of numbers that are no NaN; else the first, or the second one.
template <class Join, class E>
INLINED E nearer(E a, E b) {
  return std::is_same_v<Join, Min> ? (b < a ? b : a) : (b > a ? b : a);
}

template <class S>
INLINED bool is_true(S x) {
  return x != S(0);
}
template <class T>
INLINED bool is_true(std::complex<T> x) {
  return x.real() != T(0) || x.imag() != T(0);
}

/// What is reduced of an element.
template <class E, RunOf what, class S>
INLINED E number(S element) {
  if constexpr (what == RunOf::truths) {
    return static_cast<E>(is_true(element));
  } else {
    const E value = static_cast<E>(element);
    return what == RunOf::squares ? value * value : value;
  }
}

template <class E, class Join>
INLINED E total_of(Lanes<E>& all) {
  for (std::size_t half = lanes<E> / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) all[lane] = Join()(all[lane], all[lane + half]);
  }
  return all[0];
}

constexpr std::int64_t line_bytes = 64,
                       bytes_ahead = 8192;  // two pages, where the processor stops to look ahead by itself

/// Loads into the cache what will be read soon; any address may be given.
INLINED void fetch(const void* first, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += line_bytes)
    __builtin_prefetch(static_cast<const std::byte*>(first) + i);
}
INLINED void fetch_ahead(const void* here, std::size_t bytes) {
  fetch(static_cast<const std::byte*>(here) + bytes_ahead, static_cast<std::int64_t>(bytes));
}

/// Element i is in lane i modulo their number.
template <class S, class E, class Join, RunOf what>
INLINED void reduce(const S* run, std::int64_t count, Lanes<E>& all) {
  all.fill(identity<E, Join>());
  std::int64_t i = 0;
  for (; i + std::ssize(all) <= count; i += std::ssize(all)) {
    const S* const here = run + i;
    fetch_ahead(here, lanes<E> * sizeof(S));
    for (std::size_t lane = 0; lane < lanes<E>; ++lane)
      all[lane] = Join()(all[lane], number<E, what>(here[lane]));
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) all[lane] = Join()(all[lane], number<E, what>(run[i]));
}

template <class Bits, class E>
INLINED Bits is_nan(E x) {
  return x != x ? ~Bits{0} : Bits{0};
}

/// NaNs are noted beside: one comparison and one "or" instead of a choice that depends on the last one.
template <class E, class Join>
INLINED E extreme_of_floats(const E* run, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(E) == 4, std::uint32_t, std::uint64_t>;
  Lanes<E> all;
  std::array<Bits, lanes<E>> bad{};
  all.fill(identity<E, Join>());
  std::int64_t i = 0;
  for (; i + std::ssize(all) <= count; i += std::ssize(all)) {
    const E* const here = run + i;
    fetch_ahead(here, lanes<E> * sizeof(E));
    for (std::size_t lane = 0; lane < lanes<E>; ++lane) {
      all[lane] = nearer<Join>(all[lane], here[lane]);
      bad[lane] |= is_nan<Bits>(here[lane]);
    }
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) {
    all[lane] = nearer<Join>(all[lane], run[i]);
    bad[lane] |= is_nan<Bits>(run[i]);
  }
  Bits any = 0;
  for (const Bits one : bad) any |= one;
  return any != 0 ? std::numeric_limits<E>::quiet_NaN() : total_of<E, Join>(all);
}

/// Whether all elements are true, or, for Max, any is: in lanes as wide as the elements.
template <class S, class Join>
INLINED std::uint8_t truth(const S* run, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(S) == 4 || std::is_same_v<S, std::complex<float>>, std::uint32_t,
                                  std::uint64_t>;
  constexpr bool every = std::is_same_v<Join, Min>;
  std::array<Bits, lanes<Bits>> all;
  all.fill(every ? ~Bits{0} : Bits{0});
  const auto join = [](Bits& bits, S x) {
    const Bits found = is_true(x) ? ~Bits{0} : Bits{0};
    every ? bits &= found : bits |= found;
  };
  std::int64_t i = 0;
  for (; i + std::ssize(all) <= count; i += std::ssize(all)) {
    const S* const here = run + i;
    fetch_ahead(here, lanes<Bits> * sizeof(S));
    for (std::size_t lane = 0; lane < lanes<Bits>; ++lane) join(all[lane], here[lane]);
  }
  for (; i < count; ++i) join(all[0], run[i]);
  Bits found = all[0];
  for (const Bits one : all) every ? found &= one : found |= one;
  return static_cast<std::uint8_t>(found != 0);
}

/// Whether the next four of four runs are fetched, since these are too many pages for the processor to see
/// what comes. Elements of 8 bytes take longer to add than to wait for.
template <class S, RunOf what>
constexpr bool is_fetched = sizeof(S) < 8 || what == RunOf::truths;

template <class S, class E, class Join, RunOf what>
struct Loops {
  INLINED static E total(const void* elements, std::int64_t count) {
    if constexpr (what == RunOf::truths && sizeof(S) >= 4) {
      return truth<S, Join>(static_cast<const S*>(elements), count);
    } else if constexpr (is_complex_type<E> && std::is_same_v<Join, Sum>) {
      // Real and imaginary parts are in lanes of their own.
      using Real = typename E::value_type;
      Lanes<Real> all;
      reduce<typename S::value_type, Real, Sum, RunOf::values>(
          static_cast<const typename S::value_type*>(elements), 2 * count, all);
      for (std::size_t half = lanes<Real> / 2; half > 1; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane) all[lane] += all[lane + half];
      }
      return {all[0], all[1]};
    } else if constexpr (is_extreme<Join> && std::is_floating_point_v<E>) {
      return extreme_of_floats<E, Join>(static_cast<const E*>(elements), count);
    } else {
      Lanes<E> all;
      reduce<S, E, Join, what>(static_cast<const S*>(elements), count, all);
      return total_of<E, Join>(all);
    }
  }

  INLINED static void join(E* __restrict sums, const Runs& runs) {
    if constexpr (is_complex_type<E> && std::is_same_v<Join, Sum>) {
      using Real = typename E::value_type;
      const Runs reals{runs.first, 2 * runs.length, runs.count, runs.stride};
      Loops<typename S::value_type, Real, Sum, RunOf::values>::join(reinterpret_cast<Real*>(sums), reals);
    } else {
      const auto run = [&](std::int64_t i) {
        return reinterpret_cast<const S*>(static_cast<const std::byte*>(runs.first) + i * runs.stride);
      };
      std::int64_t i = 0;
      for (; i + 4 <= runs.count; i += 4) {  // between them the sums stay in registers
        const S* __restrict const x = run(i), * __restrict const y = run(i + 1), * __restrict const z = run(i + 2), * __restrict const w = run(i + 3);
        const std::int64_t block = is_fetched<S, what> ? std::int64_t{512 / sizeof(S)} : runs.length;
        for (std::int64_t first = 0; first < runs.length; first += block) {
          const std::int64_t last = std::min(runs.length, first + block);
          for (std::int64_t next = i + 4; is_fetched<S, what> && next < std::min(i + 8, runs.count); ++next)
            fetch(run(next) + first, (last - first) * std::int64_t{sizeof(S)});
          for (std::int64_t j = first; j < last; ++j)
            sums[j] = joined(joined(joined(joined(sums[j], x[j]), y[j]), z[j]), w[j]);
        }
      }
      for (; i < runs.count; ++i) {
        const S* __restrict const x = run(i);
        for (std::int64_t j = 0; j < runs.length; ++j) sums[j] = joined(sums[j], x[j]);
      }
    }
  }

 private:
  INLINED static E joined(E sum, S element) {
    const E x = number<E, what>(element);
    if constexpr (is_extreme<Join> && std::is_floating_point_v<E>) {
      return x != x ? x : nearer<Join>(sum, x);
    } else {
      return Join()(sum, x);
    }
  }
};

template <class E, class L>
E total_portable(const void* run, std::int64_t count) {
  return L::total(run, count);
}
template <class E, class L>
void join_portable(E* sums, const Runs& runs) {
  L::join(sums, runs);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

template <class E, class L>
AVX2 E total_avx2(const void* run, std::int64_t count) {
  return L::total(run, count);
}
template <class E, class L>
AVX2 void join_avx2(E* sums, const Runs& runs) {
  L::join(sums, runs);
}
template <class E, class L>
AVX512 E total_avx512(const void* run, std::int64_t count) {
  return L::total(run, count);
}
template <class E, class L>
AVX512 void join_avx512(E* sums, const Runs& runs) {
  L::join(sums, runs);
}

enum class Vectors : std::uint8_t { portable, avx2, avx512 };

Vectors detected() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return Vectors::avx512;
  return __builtin_cpu_supports("avx2") ? Vectors::avx2 : Vectors::portable;
}

template <class E, class L>
RunFold<E> widest() {
  static const Vectors vectors = detected();
  if (vectors == Vectors::avx512) return {total_avx512<E, L>, join_avx512<E, L>};
  if (vectors == Vectors::avx2) return {total_avx2<E, L>, join_avx2<E, L>};
  return {total_portable<E, L>, join_portable<E, L>};
}
#else
template <class E, class L>
RunFold<E> widest() {
  return {total_portable<E, L>, join_portable<E, L>};
}
#endif

/// Whether there are loops for sums of S in E; others are loaded first.
template <class S, class E>
constexpr bool is_added_in = std::is_same_v<S, E> ||
                             (std::is_same_v<S, float> && std::is_same_v<E, double>) ||
                             (std::is_same_v<S, std::int32_t> && std::is_same_v<E, std::int64_t>) ||
                             (std::is_same_v<S, std::complex<float>> &&
                              std::is_same_v<E, std::complex<double>>);

/// Sums and products are only in the widest types.
template <class E>
constexpr bool is_wide = sizeof(E) >= 8;

template <class S, class E, RunOf what>
RunFold<E> extreme_of(Reduction reduction) {
  if (reduction == Reduction::min) return widest<E, Loops<S, E, Min, what>>();
  if (reduction == Reduction::max) return widest<E, Loops<S, E, Max, what>>();
  return {};
}

template <class S, class E>
RunFold<E> fold_of(Reduction reduction, RunOf what) {
  if constexpr (std::is_same_v<E, std::uint8_t> && !is_small_float_type<S>) {
    if (what == RunOf::truths) return extreme_of<S, E, RunOf::truths>(reduction);
  }
  if constexpr (std::is_same_v<E, double> && is_added_in<S, E>) {
    if (what == RunOf::squares && reduction == Reduction::sum)
      return widest<E, Loops<S, E, Sum, RunOf::squares>>();
  }
  if constexpr (std::is_same_v<E, std::int64_t> && std::is_same_v<S, std::uint8_t>) {
    if (what == RunOf::truths && reduction == Reduction::sum)
      return widest<E, Loops<S, E, Sum, RunOf::truths>>();
  }
  if (what != RunOf::values) return {};
  if constexpr (is_wide<E> && is_added_in<S, E>) {
    if (reduction == Reduction::sum) return widest<E, Loops<S, E, Sum, RunOf::values>>();
  }
  if constexpr (std::is_same_v<S, E> && is_wide<E>) {
    if (reduction == Reduction::product) return widest<E, Loops<S, E, Product, RunOf::values>>();
  }
  if constexpr (std::is_same_v<S, E> && !is_complex_type<E>)
    return extreme_of<S, E, RunOf::values>(reduction);
  return {};
}

}  // namespace

template <class E>
RunFold<E> run_fold(Dtype stored, Reduction reduction, RunOf what) {
  if (stored == Dtype::boolean) stored = Dtype::u8;
  return visit_dtype(stored,
                     [&](auto tag) { return fold_of<typename decltype(tag)::type, E>(reduction, what); });
}

#define PARTITA_RUN_FOLD(E) template RunFold<E> run_fold(Dtype, Reduction, RunOf);
PARTITA_RUN_FOLD(std::int8_t)
PARTITA_RUN_FOLD(std::uint8_t)
PARTITA_RUN_FOLD(std::int16_t)
PARTITA_RUN_FOLD(std::uint16_t)
PARTITA_RUN_FOLD(std::int32_t)
PARTITA_RUN_FOLD(std::uint32_t)
PARTITA_RUN_FOLD(std::int64_t)
PARTITA_RUN_FOLD(std::uint64_t)
PARTITA_RUN_FOLD(float)
PARTITA_RUN_FOLD(double)
PARTITA_RUN_FOLD(std::complex<double>)
#undef PARTITA_RUN_FOLD

}  // namespace partita::kernels
