#include "kernels/host/placed_keys.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/order.hpp"
#include "kernels/host/radix_sort.hpp"
#include "kernels/host/sort_keys.hpp"

namespace partita::kernels {
namespace {

bool key_is_less(const PlacedKey& a, const PlacedKey& b) {
  return a.key < b.key;
}

/// Calls the body with a function that gives the key of element i, as a number of the bits of the dtype.
template <class Body>
void with_keys(const PlacedElements& from, Body&& body) {
  invariant(!is_complex(from.dtype) && !is_float8(from.dtype), "keys of {}", name(from.dtype));
  visit_dtype(from.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (has_order<T>) {
      using Keys = SortKeys<T>;
      const auto* const bits = static_cast<const typename Keys::Bits*>(from.elements);
      const auto ascending = [bits](std::int64_t i) { return Keys::key_of_number(bits[i]); };
      if (!from.descending) return body(ascending);
      body([ascending](std::int64_t i) { return static_cast<typename Keys::Bits>(~ascending(i)); });
    }
  });
}

}  // namespace

void write_words(const PlacedElements& from, std::uint64_t* words) {
  with_keys(from, [&](const auto& key) {
    for (std::int64_t i = 0; i < from.count; ++i)
      words[i] = static_cast<std::uint64_t>(key(i)) << 32 | static_cast<std::uint64_t>(from.first + i);
  });
}

void sort_placed(const PlacedElements& from, PlacedKey* sorted, PlacedKey* scratch) {
  with_keys(from, [&](const auto& key) {
    const auto load = [&](std::int64_t i) { return PlacedKey{key(i), from.first + i}; };
    if (from.count < least_radix_sorted) {
      for (std::int64_t i = 0; i < from.count; ++i) sorted[i] = load(i);
      return std::stable_sort(sorted, sorted + from.count, key_is_less);
    }
    radix_sort<0, sizeof(key(0))>(
        from.count, scratch, sorted, load, [](const PlacedKey& one) { return one.key; },
        [](const PlacedKey& one) { return one; });
  });
}

void count_below(std::span<const PlacedKey> sorted, std::span<const std::uint64_t> keys,
                 std::int64_t* found) {
  for (const std::uint64_t key : keys)
    *found++ = std::ranges::lower_bound(sorted, key, {}, &PlacedKey::key) - sorted.begin();
}

void merge_places(PlacedKey* runs, std::span<const std::int64_t> counts, PlacedKey* scratch,
                  std::int64_t* places) {
  std::vector<std::pair<PlacedKey*, PlacedKey*>> pieces;
  PlacedKey* end = runs;
  for (const std::int64_t count : counts) {
    if (count > 0) pieces.emplace_back(end, end + count);
    end += count;
  }
  PlacedKey *from = runs, *to = scratch;
  while (pieces.size() > 1) {
    std::size_t merged = 0;
    PlacedKey* out = to;
    for (std::size_t i = 0; i < pieces.size(); i += 2) {
      const auto first = pieces[i];
      const auto second = i + 1 < pieces.size() ? pieces[i + 1] : std::pair(first.second, first.second);
      PlacedKey* const last =
          std::merge(first.first, first.second, second.first, second.second, out, key_is_less);
      pieces[merged++] = {out, last};
      out = last;
    }
    pieces.resize(merged);
    std::swap(from, to);
  }
  for (std::int64_t i = 0; i < end - runs; ++i) places[i] = from[i].place;
}

}  // namespace partita::kernels
