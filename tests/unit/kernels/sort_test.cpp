// Sorts by digits and by comparisons, keys of elements, and places in order, against the order of elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "base/visit_dtype.hpp"
#include "kernels/host/order.hpp"
#include "kernels/host/order_keys.hpp"
#include "kernels/host/sort_any.hpp"

namespace partita::kernels {
namespace {

/// Any bits, with infinities, zeros of both signs, NaNs and equal elements among them.
template <class T>
void make_elements(std::span<T> found) {
  std::mt19937_64 random(found.size());
  for (T& one : found) {
    std::array<std::uint64_t, 2> bits{random(), random()};
    if constexpr (std::is_same_v<T, bool>) {
      one = bits[0] % 2 == 0;
    } else {
      std::memcpy(static_cast<void*>(&one), bits.data(), sizeof one);
      if constexpr (std::is_floating_point_v<T>) {
        const T special[]{T{0},
                          -T{0},
                          std::numeric_limits<T>::infinity(),
                          -std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN(),
                          T{1}};
        if (random() % 3 == 0) one = special[random() % 6];
      }
      if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        using Part = typename T::value_type;
        const Part parts[]{Part{0}, -Part{0}, Part{1}, std::numeric_limits<Part>::quiet_NaN()};
        one = {parts[random() % 4], parts[random() % 4]};
      }
    }
  }
}

template <class T>
bool are_equal(T a, T b) {
  return !comes_before(a, b) && !comes_before(b, a);
}

template <class T>
void check_sorts(Dtype dtype, std::int64_t count, bool descending) {
  const auto size = static_cast<std::size_t>(count);
  const auto from = std::make_unique<T[]>(size), alone = std::make_unique<T[]>(size),
             with_order = std::make_unique<T[]>(size);
  make_elements(std::span<T>(from.get(), size));
  const auto before = [&](T a, T b) { return descending ? comes_before(b, a) : comes_before(a, b); };
  std::vector<std::int64_t> order(size), wanted_order(size);
  for (std::size_t i = 0; i < size; ++i) wanted_order[i] = static_cast<std::int64_t>(i);
  std::ranges::stable_sort(wanted_order, [&](std::int64_t a, std::int64_t b) {
    return before(from[static_cast<std::size_t>(a)], from[static_cast<std::size_t>(b)]);
  });
  SortPass pass{.dtype = dtype, .descending = descending, .count = count, .from = from.get()};
  pass.to = alone.get();
  sort_any({pass});
  pass.to = with_order.get();
  pass.order = order.data();
  sort_any({pass});
  EXPECT_EQ(order, wanted_order) << name(dtype) << " " << count;
  for (std::size_t i = 0; i < size; ++i) {
    const T one = from[static_cast<std::size_t>(wanted_order[i])];
    ASSERT_TRUE(are_equal(alone[i], one)) << name(dtype) << " " << count << " at " << i;
    ASSERT_EQ(std::memcmp(&with_order[i], &one, sizeof one), 0);
  }
  // The keys are in the order of the elements, and give them back.
  const OrderKeys keys{dtype, descending};
  for (std::size_t i = 0; i < size; i += 7) {
    std::int64_t first = 0;
    while (before(alone[static_cast<std::size_t>(first)], alone[i])) ++first;
    std::vector<OrderKey> key(1, OrderKey{});
    for (std::size_t column = 0; column < keys.bits().size(); ++column) {
      for (int bit = keys.bits()[column] - 1; bit >= 0; --bit) {
        OrderKey probe = key[0];
        probe[column] |= std::uint64_t{1} << bit;
        std::int64_t below = 0;
        count_below(keys, alone.get(), count, {&probe, 1}, &below);
        if (below <= static_cast<std::int64_t>(i)) key[0] = probe;
      }
    }
    T found{};
    keys.write_element(key[0], &found);
    ASSERT_TRUE(are_equal(found, static_cast<T>(alone[i]))) << name(dtype) << " " << count << " at " << i;
    std::int64_t below = 0;
    count_below(keys, alone.get(), count, key, &below);
    EXPECT_EQ(below, first);
  }
}

TEST(Sort, ElementsOrderAndKeysOfEveryDtype) {
  for (int number = 0; number < dtype_count; ++number) {
    const auto dtype = static_cast<Dtype>(number);
    if (is_float8(dtype)) continue;
    visit_dtype(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, Float8E4M3> && !std::is_same_v<T, Float8E5M2>) {
        for (const std::int64_t count : {0, 1, 2, 100, 255, 256, 1000}) {
          for (const bool descending : {false, true}) check_sorts<T>(dtype, count, descending);
        }
      }
    });
  }
}

TEST(Sort, WordsWhoseLowerBitsAreInOrder) {
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < 1000; ++i) words.push_back((i * 7919 % 31) << 32 | i);
  std::vector<std::uint64_t> wanted = words, sorted(words.size());
  std::ranges::sort(wanted);
  sort_any({{.dtype = Dtype::u64, .count = 1000, .from = words.data(), .to = sorted.data()}, nullptr, true});
  EXPECT_EQ(sorted, wanted);
}

}  // namespace
}  // namespace partita::kernels
