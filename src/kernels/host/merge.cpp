#include "kernels/host/merge.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "kernels/host/merge_pairs.hpp"

namespace partita::kernels {
namespace {

using Ends = std::vector<std::int64_t>;

/// Signed integers in the order of the floating-point numbers of these bits, and back: the lower bits of
/// negative ones are inverted.
template <class T>
PARTITA_INLINE T with_order(T bits) {
  constexpr T magnitude = std::numeric_limits<T>::max();
  return static_cast<T>(bits ^ ((bits >> (8 * sizeof(T) - 1)) & magnitude));
}

/// The same of all, where NaNs, whose magnitude is above that of infinity, become positive. Without branches.
template <class T>
PARTITA_INLINE void order_as_integers(T* values, std::int64_t size, T infinity) {
  constexpr T magnitude = std::numeric_limits<T>::max(), sign = std::numeric_limits<T>::min();
  for (std::int64_t i = 0; i < size; ++i) {
    const T bits = values[i], is_nan = static_cast<T>(-static_cast<T>((bits & magnitude) > infinity));
    values[i] = with_order(static_cast<T>(bits & ~(is_nan & sign)));
  }
}

template <class T>
PARTITA_INLINE void restore_bits(T* values, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) values[i] = with_order(values[i]);
}

template <int width, class T>
PARTITA_INLINE void merge_pair(SortedRun<T> a, SortedRun<T> b, T* out) {
#if defined(__x86_64__)
  if constexpr (width > 1) return merge_by_vectors<width>(a, b, out);
#endif
  merge_scalars(a, b, out);
}

/// Merges neighbouring runs, pass by pass, between `values` and as much memory. `infinity`: its bits, if the
/// values are floating-point numbers, or else 0.
template <int width, auto infinity, class T>
PARTITA_INLINE void merge_all(T* values, Ends ends) {
  const std::int64_t size = ends.back();
  const auto scratch = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size));
  if constexpr (infinity != 0) order_as_integers<T>(values, size, infinity);
  T *from = values, *to = scratch.get();
  while (ends.size() > 1) {
    Ends merged;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::int64_t middle = ends[i], last = i + 1 < ends.size() ? ends[i + 1] : middle;
      merge_pair<width, T>({from + first, from + middle}, {from + middle, from + last}, to + first);
      merged.push_back(last);
      first = last;
    }
    ends = std::move(merged);
    std::swap(from, to);
  }
  if (from != values) std::copy(from, from + size, values);
  if constexpr (infinity != 0) restore_bits(values, size);
}

template <class T, T infinity>
void merge_portable(T* values, const Ends& ends) {
  merge_all<1, infinity>(values, ends);
}

#if defined(__x86_64__)
template <class T, T infinity>
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) void merge_avx512(T* values, const Ends& ends) {
  merge_all<64 / sizeof(T), infinity>(values, ends);
}

template <class T, T infinity>
__attribute__((target("avx2"))) void merge_avx2(T* values, const Ends& ends) {
  merge_all<32 / sizeof(T), infinity>(values, ends);
}
#endif

template <class T, T infinity = 0>
void merge(void* values, const Ends& ends) {
  T* const numbers = static_cast<T*>(values);
#if defined(__x86_64__)
  if constexpr (sizeof(T) >= 4) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
      return merge_avx512<T, infinity>(numbers, ends);
    if (__builtin_cpu_supports("avx2")) return merge_avx2<T, infinity>(numbers, ends);
  }
#endif
  merge_portable<T, infinity>(numbers, ends);
}

}  // namespace

void merge_runs(Dtype dtype, void* values, std::span<const std::int64_t> counts) {
  Ends ends;
  for (const std::int64_t count : counts) {
    if (count > 0) ends.push_back((ends.empty() ? 0 : ends.back()) + count);
  }
  if (ends.size() < 2) return;
  switch (dtype) {
    case Dtype::f16:
      return merge<std::int16_t, 0x7C00>(values, ends);
    case Dtype::bf16:
      return merge<std::int16_t, 0x7F80>(values, ends);
    case Dtype::f32:
      return merge<std::int32_t, 0x7F800000>(values, ends);
    case Dtype::f64:
      return merge<std::int64_t, 0x7FF0000000000000>(values, ends);
    case Dtype::boolean:
    case Dtype::u8:
      return merge<std::uint8_t>(values, ends);
    case Dtype::u16:
      return merge<std::uint16_t>(values, ends);
    case Dtype::u32:
      return merge<std::uint32_t>(values, ends);
    case Dtype::u64:
      return merge<std::uint64_t>(values, ends);
    case Dtype::i8:
      return merge<std::int8_t>(values, ends);
    case Dtype::i16:
      return merge<std::int16_t>(values, ends);
    case Dtype::i32:
      return merge<std::int32_t>(values, ends);
    case Dtype::i64:
      return merge<std::int64_t>(values, ends);
    default:
      throw ArgumentError(std::string("merge_runs does not support dtype ") + std::string(name(dtype)));
  }
}

}  // namespace partita::kernels
