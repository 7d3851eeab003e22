// Two sorted runs of integers, merged by vectors: a bitonic network merges the next vector of the run whose
// head is smaller with the elements that are kept, and stores the lower half (H. Inoue, T. Moriyama, H.
// Komatsu, T. Nakatani: AA-Sort. PACT 2007). The output is cut in two (co-ranking), and both parts are merged
// in turn, so that one hides the latency of the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#define PARTITA_INLINE inline __attribute__((always_inline))

namespace partita::kernels {

/// A sorted run.
template <class T>
struct SortedRun {
  const T* first;
  const T* last;
  std::int64_t size() const { return last - first; }
};

/// One element after the other.
template <class T>
void merge_scalars(SortedRun<T> a, SortedRun<T> b, T* out) {
  while (a.first < a.last && b.first < b.last) *out++ = *b.first < *a.first ? *b.first++ : *a.first++;
  out = std::copy(a.first, a.last, out);
  std::copy(b.first, b.last, out);
}

/// How many of the first `count` elements of the merged runs are of `a`.
template <class T>
std::int64_t co_rank(std::int64_t count, SortedRun<T> a, SortedRun<T> b) {
  std::int64_t low = std::max<std::int64_t>(0, count - b.size()), high = std::min(count, a.size());
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (a.first[middle] <= b.first[count - middle - 1]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"  // no vector is passed between functions that are not inlined

/// `width` integers.
template <class T, int width>
struct Vector {
  typedef T Type __attribute__((vector_size(width * sizeof(T))));  // NOLINT(modernize-use-using)
  Type lanes;

  PARTITA_INLINE void load(const T* from) { std::memcpy(&lanes, from, sizeof lanes); }
  PARTITA_INLINE void store(T* to) const { std::memcpy(to, &lanes, sizeof lanes); }
};

template <class T, int width, int... lane>
PARTITA_INLINE void reverse(Vector<T, width>& one, std::integer_sequence<int, lane...>) {
  one.lanes = __builtin_shufflevector(one.lanes, one.lanes, (width - 1 - lane)...);
}

/// Orders the lanes at a distance.
template <int distance, class T, int width, int... lane>
PARTITA_INLINE void order_lanes(Vector<T, width>& one, std::integer_sequence<int, lane...>) {
  const auto other = __builtin_shufflevector(one.lanes, one.lanes, (lane ^ distance)...);
  const auto low = one.lanes < other ? one.lanes : other, high = one.lanes < other ? other : one.lanes;
  one.lanes = __builtin_shufflevector(low, high, ((lane & distance) != 0 ? lane + width : lane)...);
}

template <int distance, class T, int width>
PARTITA_INLINE void order_bitonic(Vector<T, width>& one) {
  if constexpr (distance > 0) {
    order_lanes<distance>(one, std::make_integer_sequence<int, width>{});
    order_bitonic<distance / 2>(one);
  }
}

/// Two sorted vectors: then the lowest and the highest half of their elements, each sorted.
template <class T, int width>
PARTITA_INLINE void merge_vectors(Vector<T, width>& low, Vector<T, width>& high) {
  reverse(high, std::make_integer_sequence<int, width>{});
  const auto a = low.lanes, b = high.lanes;
  low.lanes = a < b ? a : b;
  high.lanes = a < b ? b : a;
  order_bitonic<width / 2>(low);
  order_bitonic<width / 2>(high);
}

/// A merge in progress: what is left of both runs, and the highest elements that were loaded.
template <class T, int width>
struct Merge {
  SortedRun<T> a, b;
  T* out;
  Vector<T, width> kept;

  PARTITA_INLINE bool has_vectors() const { return a.size() >= width && b.size() >= width; }

  PARTITA_INLINE void begin() {
    Vector<T, width> low;
    low.load(a.first);
    kept.load(b.first);
    a.first += width;
    b.first += width;
    merge_vectors(low, kept);
    low.store(out);
    out += width;
  }

  PARTITA_INLINE void step() {
    const bool from_a = *a.first <= *b.first;
    Vector<T, width> low;
    low.load(from_a ? a.first : b.first);
    a.first += from_a ? width : 0;
    b.first += from_a ? 0 : width;
    merge_vectors(low, kept);
    low.store(out);
    out += width;
  }

  /// One of the runs has less than a vector.
  PARTITA_INLINE void end() {
    std::array<T, static_cast<std::size_t>(width)> rest;
    std::array<T, static_cast<std::size_t>(2 * width)> few;
    kept.store(rest.data());
    const SortedRun<T> shorter = a.size() < b.size() ? a : b, longer = a.size() < b.size() ? b : a;
    merge_scalars<T>({rest.data(), rest.data() + width}, shorter, few.data());
    merge_scalars<T>({few.data(), few.data() + width + shorter.size()}, longer, out);
  }
};

template <int width, class T>
PARTITA_INLINE void merge_by_vectors(SortedRun<T> a, SortedRun<T> b, T* out) {
  const std::int64_t half = (a.size() + b.size()) / 2, of_a = co_rank(half, a, b), of_b = half - of_a;
  Merge<T, width> lower{{a.first, a.first + of_a}, {b.first, b.first + of_b}, out, {}};
  Merge<T, width> upper{{a.first + of_a, a.last}, {b.first + of_b, b.last}, out + half, {}};
  if (!lower.has_vectors() || !upper.has_vectors()) return merge_scalars(a, b, out);
  lower.begin();
  upper.begin();
  while (lower.has_vectors() && upper.has_vectors()) {
    lower.step();
    upper.step();
  }
  while (lower.has_vectors()) lower.step();
  while (upper.has_vectors()) upper.step();
  lower.end();
  upper.end();
}

#pragma GCC diagnostic pop
#endif

}  // namespace partita::kernels
