#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <span>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/order.hpp"
#include "kernels/host/placed_keys.hpp"
#include "kernels/host/radix_sort.hpp"
#include "kernels/host/sort_any.hpp"
#include "kernels/host/sort_keys.hpp"

namespace partita::kernels {
namespace {

/// By comparisons.
template <class T>
void compare_and_sort(const SortPass& pass) {
  const std::span<const T> from(static_cast<const T*>(pass.from), static_cast<std::size_t>(pass.count));
  T* const to = static_cast<T*>(pass.to);
  const auto before = [&](T a, T b) { return pass.descending ? comes_before(b, a) : comes_before(a, b); };
  if (pass.order == nullptr) {
    std::ranges::copy(from, to);
    std::sort(to, to + pass.count, before);
    return;
  }
  const std::span<std::int64_t> order(pass.order, from.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return before(from[static_cast<std::size_t>(a)], from[static_cast<std::size_t>(b)]);
  });
  if (to == nullptr) return;
  std::ranges::transform(order, to, [&](std::int64_t i) { return from[static_cast<std::size_t>(i)]; });
}

/// Keys are sorted in place of elements, which NaNs without their bits come from.
template <class T, bool descending>
void sort_by_digits(const HostSort& sort) {
  const SortPass& pass = sort.pass;
  using Keys = SortKeys<T>;
  using Bits = typename Keys::Bits;
  const auto* const from = static_cast<const Bits*>(pass.from);
  auto* const to = static_cast<Bits*>(pass.to);
  auto* scratch = static_cast<Bits*>(sort.scratch);
  std::unique_ptr<Bits[]> own;
  if (scratch == nullptr && sizeof(Bits) > 1) {
    own = std::make_unique_for_overwrite<Bits[]>(static_cast<std::size_t>(pass.count));
    scratch = own.get();
  }
  const auto load = [from](std::int64_t i) {
    const Bits key = Keys::key(from[i]);
    return descending ? static_cast<Bits>(~key) : key;
  };
  const auto itself = [](Bits key) { return key; };
  const auto element = [](Bits key) { return Keys::bits(descending ? static_cast<Bits>(~key) : key); };
  if constexpr (sizeof(Bits) == 8) {
    if (sort.lower_bits_ordered) return radix_sort<32, 4>(pass.count, scratch, to, load, itself, element);
  }
  radix_sort<0, sizeof(Bits)>(pass.count, scratch, to, load, itself, element);
}

/// Stores the order, and the elements if they are wanted.
template <class T>
auto storing_order(const SortPass& pass) {
  const T* const from = static_cast<const T*>(pass.from);
  T* const to = static_cast<T*>(pass.to);
  return [from, to, order = pass.order](std::int64_t i, std::int64_t place) {
    order[i] = place;
    if (to != nullptr) to[i] = from[place];
  };
}

/// By so many digits of their upper halves.
template <int digits>
void sort_words(std::int64_t count, const std::uint64_t* words, std::uint64_t* scratch,
                std::uint64_t* sorted) {
  const auto load = [words](std::int64_t i) { return words[i]; };
  const auto itself = [](std::uint64_t word) { return word; };
  radix_sort<32, digits>(count, scratch, sorted, load, itself, itself);
}

/// Of keys of 32 bits at most, in words that have the places in their lower halves.
template <class T>
void order_by_words(const SortPass& pass) {
  const auto size = static_cast<std::size_t>(pass.count);
  const auto words = std::make_unique_for_overwrite<std::uint64_t[]>(3 * size);
  std::uint64_t *const given = words.get(), *const first = given + size, *const second = first + size;
  write_words({pass.dtype, pass.descending, pass.from, pass.count}, given);
  sort_words<std::min<int>(sizeof(T), 4)>(pass.count, given, first, second);
  const auto store = storing_order<T>(pass);
  for (std::int64_t i = 0; i < pass.count; ++i)
    store(i, static_cast<std::int64_t>(second[i] & std::numeric_limits<std::uint32_t>::max()));
}

template <class T>
void order_by_pairs(const SortPass& pass) {
  const auto size = static_cast<std::size_t>(pass.count);
  const auto pairs = std::make_unique_for_overwrite<PlacedKey[]>(2 * size);
  sort_placed({pass.dtype, pass.descending, pass.from, pass.count}, pairs.get(), pairs.get() + size);
  const auto store = storing_order<T>(pass);
  for (std::int64_t i = 0; i < pass.count; ++i) store(i, pairs[static_cast<std::size_t>(i)].place);
}

template <class T>
void sort_keys(const HostSort& sort) {
  const SortPass& pass = sort.pass;
  if (pass.order == nullptr)
    return pass.descending ? sort_by_digits<T, true>(sort) : sort_by_digits<T, false>(sort);
  if constexpr (sizeof(T) <= 4) {
    if (pass.count <= std::int64_t{1} << 32) return order_by_words<T>(pass);
  }
  order_by_pairs<T>(pass);
}

}  // namespace

bool is_sorted_here(Dtype dtype) {
  return !is_complex(dtype) && !is_float8(dtype);
}

void sort(const SortPass& pass) {
  invariant(is_sorted_here(pass.dtype), "sorting of {}", name(pass.dtype));
  sort_any({pass});
}

void sort_any(const HostSort& sort) {
  const SortPass& pass = sort.pass;
  invariant(!is_float8(pass.dtype), "sorting of {}", name(pass.dtype));
  visit_dtype(pass.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!has_order<T>) {
      compare_and_sort<T>(pass);
    } else if constexpr (!is_float8_type<T>) {
      pass.count < least_radix_sorted ? compare_and_sort<T>(pass) : sort_keys<T>(sort);
    }
  });
}

}  // namespace partita::kernels
