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

/// The same where NaNs, whose magnitude is above that of infinity, become positive. Without branches.
/// `infinity`: its bits; 0: the values are no floating-point numbers, and are their own order.
template <auto infinity, class T>
PARTITA_INLINE T key_of(T bits) {
  if constexpr (infinity == 0) return bits;
  constexpr T magnitude = std::numeric_limits<T>::max(), sign = std::numeric_limits<T>::min();
  const T is_nan = static_cast<T>(-static_cast<T>((bits & magnitude) > infinity));
  return with_order(static_cast<T>(bits & ~(is_nan & sign)));
}

template <int width, class T>
PARTITA_INLINE void merge_pair(SortedRun<T> a, SortedRun<T> b, T* out) {
#if defined(__x86_64__)
  if constexpr (width > 1) return merge_by_vectors<width>(a, b, out);
#endif
  merge_scalars(a, b, out);
}

template <class T>
using Pieces = std::vector<SortedRun<T>>;

/// Merges pieces that fit into the cache, pass by pass between `a` and `b`, each as large as all pieces.
template <int width, auto infinity, class T>
PARTITA_INLINE void merge_pieces(Pieces<T>& pieces, T* a, T* b, T* out) {
  std::int64_t size = 0;
  for (SortedRun<T>& one : pieces) {
    T* const keys = a + size;
    size += one.size();
    if constexpr (infinity != 0) {
      for (std::int64_t i = 0; i < one.size(); ++i) keys[i] = key_of<infinity>(one.first[i]);
      one = {keys, a + size};
    }
  }
  while (pieces.size() > 1) {
    T* to = pieces.size() == 2 ? out : b;
    std::size_t merged = 0;
    for (std::size_t i = 0; i < pieces.size(); i += 2) {
      const SortedRun<T> first = pieces[i], second = i + 1 < pieces.size() ? pieces[i + 1] : SortedRun<T>{};
      merge_pair<width, T>(first, second, to);
      pieces[merged++] = {to, to + first.size() + second.size()};
      to = to + first.size() + second.size();
    }
    pieces.resize(merged);
    std::swap(a, b);
  }
  if (pieces[0].first != out) std::copy(pieces[0].first, pieces[0].last, out);
  if constexpr (infinity != 0) {
    for (std::int64_t i = 0; i < size; ++i) out[i] = with_order(out[i]);
  }
}

/// Takes the lowest elements of all runs, at most `most` of each: no element is left that is lower.
template <auto infinity, class T>
PARTITA_INLINE void take_lowest(Pieces<T>& runs, std::int64_t most, Pieces<T>& taken) {
  bool is_bounded = false;
  T bound{};
  for (const SortedRun<T>& run : runs) {
    if (run.size() <= most) continue;
    const T last = key_of<infinity>(run.first[most - 1]);
    bound = !is_bounded || last < bound ? last : bound;
    is_bounded = true;
  }
  taken.clear();
  for (SortedRun<T>& run : runs) {
    const T* const end = run.first + std::min(most, run.size());
    const T* const cut = !is_bounded ? end : std::upper_bound(run.first, end, bound, [](T one, T other) {
      return one < key_of<infinity>(other);
    });
    if (cut != run.first) taken.push_back({run.first, cut});
    run.first = cut;
  }
  std::erase_if(runs, [](const SortedRun<T>& run) { return run.size() == 0; });
}

constexpr std::int64_t cached_bytes = 1 << 16, least_piece = 256;

/// Memory is read once and written once: what is merged in several passes stays in the cache.
template <int width, auto infinity, class T>
PARTITA_INLINE void merge_all(const T* values, const Ends& ends, T* out) {
  Pieces<T> runs, taken;
  const T* first = values;
  for (const std::int64_t end : ends) {
    runs.push_back({first, values + end});
    first = values + end;
  }
  const auto count = static_cast<std::int64_t>(runs.size());
  const std::int64_t most = std::max(cached_bytes / std::int64_t{sizeof(T)} / count, least_piece);
  const auto scratch = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(2 * most * count));
  while (!runs.empty()) {
    take_lowest<infinity>(runs, most, taken);
    std::int64_t size = 0;
    for (const SortedRun<T>& one : taken) size += one.size();
    merge_pieces<width, infinity>(taken, scratch.get(), scratch.get() + most * count, out);
    out += size;
  }
}

template <class T, T infinity>
void merge_portable(const T* values, const Ends& ends, T* out) {
  merge_all<1, infinity>(values, ends, out);
}

#if defined(__x86_64__)
template <class T, T infinity>
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) void merge_avx512(const T* values,
                                                                                const Ends& ends, T* out) {
  merge_all<64 / sizeof(T), infinity>(values, ends, out);
}

template <class T, T infinity>
__attribute__((target("avx2"))) void merge_avx2(const T* values, const Ends& ends, T* out) {
  merge_all<32 / sizeof(T), infinity>(values, ends, out);
}
#endif

template <class T, T infinity = 0>
void merge(const void* values, const Ends& ends, void* to) {
  const T* const numbers = static_cast<const T*>(values);
  T* const out = static_cast<T*>(to);
#if defined(__x86_64__)
  if constexpr (sizeof(T) >= 4) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
      return merge_avx512<T, infinity>(numbers, ends, out);
    if (__builtin_cpu_supports("avx2")) return merge_avx2<T, infinity>(numbers, ends, out);
  }
#endif
  merge_portable<T, infinity>(numbers, ends, out);
}

}  // namespace

void merge_runs(Dtype dtype, const void* values, std::span<const std::int64_t> counts, void* to) {
  Ends ends;
  for (const std::int64_t count : counts) {
    if (count > 0) ends.push_back((ends.empty() ? 0 : ends.back()) + count);
  }
  if (ends.empty()) return;
  switch (dtype) {
    case Dtype::f16:
      return merge<std::int16_t, 0x7C00>(values, ends, to);
    case Dtype::bf16:
      return merge<std::int16_t, 0x7F80>(values, ends, to);
    case Dtype::f32:
      return merge<std::int32_t, 0x7F800000>(values, ends, to);
    case Dtype::f64:
      return merge<std::int64_t, 0x7FF0000000000000>(values, ends, to);
    case Dtype::boolean:
    case Dtype::u8:
      return merge<std::uint8_t>(values, ends, to);
    case Dtype::u16:
      return merge<std::uint16_t>(values, ends, to);
    case Dtype::u32:
      return merge<std::uint32_t>(values, ends, to);
    case Dtype::u64:
      return merge<std::uint64_t>(values, ends, to);
    case Dtype::i8:
      return merge<std::int8_t>(values, ends, to);
    case Dtype::i16:
      return merge<std::int16_t>(values, ends, to);
    case Dtype::i32:
      return merge<std::int32_t>(values, ends, to);
    case Dtype::i64:
      return merge<std::int64_t>(values, ends, to);
    default:
      throw ArgumentError(std::string("merge_runs does not support dtype ") + std::string(name(dtype)));
  }
}

}  // namespace partita::kernels
