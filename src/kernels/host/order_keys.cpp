#include "kernels/host/order_keys.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/order.hpp"
#include "kernels/host/sort_keys.hpp"

namespace partita::kernels {
namespace {

template <class T>
std::uint64_t column_of(T value) {
  using Keys = SortKeys<T>;
  return Keys::key_of_number(std::bit_cast<typename Keys::Bits>(value));
}

template <class T>
struct KeyOf {
  static OrderKey of(T value) { return {column_of(value), 0, 0}; }
};
template <class T>
struct KeyOf<std::complex<T>> {
  static OrderKey of(std::complex<T> value) {
    return {nan_parts(value), column_of(value.real()), column_of(value.imag())};
  }
};

/// Of keys that no element has, below that of -infinity: -infinity.
template <class T>
T element_with_key(std::uint64_t key) {
  using Keys = SortKeys<T>;
  const auto bits = static_cast<typename Keys::Bits>(key);
  constexpr bool has_nan = Keys::infinity != 0;
  if (has_nan && key < Keys::key(static_cast<typename Keys::Bits>(Keys::infinity | Keys::sign)))
    return std::bit_cast<T>(static_cast<typename Keys::Bits>(Keys::infinity | Keys::sign));
  return std::bit_cast<T>(Keys::bits(bits));
}

template <class T>
void write_element_of(const OrderKey& key, T* element) {
  *element = element_with_key<T>(key[0]);
}
void write_element_of(const OrderKey& key, bool* element) {
  *element = key[0] != 0;
}
template <class T>
void write_element_of(const OrderKey& key, std::complex<T>* element) {
  *element = {element_with_key<T>(key[1]), element_with_key<T>(key[2])};
}

template <class T>
void count_keys(const OrderKeys& order, const T* sorted, std::int64_t count, std::span<const OrderKey> keys,
                std::int64_t* found) {
  OrderKey most{};
  for (std::size_t column = 0; column < order.bits().size(); ++column) most[column] = order.most(column);
  const auto is_below = [&](T element, const OrderKey& key) {
    OrderKey own = KeyOf<T>::of(element);
    for (std::size_t column = 0; order.descending && column < own.size(); ++column)
      own[column] = most[column] - own[column];
    return own < key;
  };
  for (const OrderKey& key : keys)
    *found++ = std::lower_bound(sorted, sorted + count, key, is_below) - sorted;
}

}  // namespace

std::vector<int> OrderKeys::bits() const {
  const int all = static_cast<int>(8 * size_of(dtype));
  if (is_complex(dtype)) return {2, all / 2, all / 2};
  return {dtype == Dtype::boolean ? 1 : all};
}

std::uint64_t OrderKeys::most(std::size_t column) const {
  return ~std::uint64_t{0} >> (64 - bits()[column]);
}

bool OrderKeys::advance(OrderKey& key) const {
  for (std::size_t column = bits().size(); column-- > 0; key[column] = 0) {
    if (key[column] < most(column)) return ++key[column], true;
  }
  return false;
}

void OrderKeys::write_element(OrderKey key, void* element) const {
  for (std::size_t column = 0; descending && column < bits().size(); ++column)
    key[column] = most(column) - key[column];
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!is_float8_type<T>) write_element_of(key, static_cast<T*>(element));
  });
}

void count_below(const OrderKeys& order, const void* sorted, std::int64_t count,
                 std::span<const OrderKey> keys, std::int64_t* found) {
  invariant(!is_float8(order.dtype), "keys of {}", name(order.dtype));
  visit_dtype(order.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!is_float8_type<T>) count_keys(order, static_cast<const T*>(sorted), count, keys, found);
  });
}

}  // namespace partita::kernels
