#include "kernels/host/sort.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/order.hpp"

namespace partita::kernels {
namespace {

template <class T>
void sort_values(const SortPass& pass) {
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

}  // namespace

bool is_sorted_here(Dtype dtype) {
  return !is_complex(dtype) && !is_float8(dtype);
}

void sort(const SortPass& pass) {
  invariant(is_sorted_here(pass.dtype), "sorting of {}", name(pass.dtype));
  visit_dtype(pass.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (has_order<T>) sort_values<T>(pass);
  });
}

}  // namespace partita::kernels
