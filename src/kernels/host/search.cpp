#include "kernels/host/search.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/order.hpp"
#include "kernels/host/sort.hpp"

namespace partita::kernels {
namespace {

/// `S`: of the sorted elements, in which values are compared.
template <class S, class T>
void search_values(const SearchPass& pass) {
  const std::span<const S> sorted(static_cast<const S*>(pass.sorted),
                                  static_cast<std::size_t>(pass.sorted_count));
  const auto* const values = static_cast<const T*>(pass.values);
  for (std::int64_t i = 0; i < pass.count; ++i) {
    S x{};
    if constexpr (is_small_float_type<T> && !std::is_same_v<S, T>) {
      x = static_cast<S>(to_float(values[i]));
    } else {
      x = static_cast<S>(values[i]);  // NOLINT(bugprone-signed-char-misuse): numbers of i8
    }
    const auto before = std::lower_bound(sorted.begin(), sorted.end(), x, comes_before<S>);
    const auto place = pass.after ? std::upper_bound(before, sorted.end(), x, comes_before<S>) : before;
    if (pass.places != nullptr) pass.places[i] = place - sorted.begin();
    if (pass.contained != nullptr) pass.contained[i] = before != sorted.end() && *before == x;
  }
}

/// As number of the edges' type; bins are those of the values themselves without edges.
template <class Edge, class T>
std::int64_t bin_of(T element, const CountPass& pass) {
  const auto* const edges = static_cast<const Edge*>(pass.edges);
  if constexpr (std::is_integral_v<T>) {
    if (edges == nullptr)
      return std::cmp_less(element, 0) || std::cmp_greater_equal(element, pass.bins)
                 ? -1
                 : static_cast<std::int64_t>(element);
  }
  const auto x = static_cast<Edge>(element);  // NOLINT(bugprone-signed-char-misuse): numbers of i8
  const std::int64_t bin = std::upper_bound(edges, edges + pass.bins + 1, x) - edges - 1;
  return bin < pass.bins ? bin : x == edges[pass.bins] ? pass.bins - 1 : -1;
}

template <class Edge, class T>
void count_values(const CountPass& pass) {
  const auto* const from = static_cast<const T*>(pass.from);
  const auto add = [&](auto* to, auto weight) {
    std::fill_n(to, pass.bins, 0);
    for (std::int64_t i = 0; i < pass.count; ++i) {
      std::int64_t bin = -1;
      if constexpr (is_small_float_type<T>) {
        bin = bin_of<Edge>(to_float(from[i]), pass);
      } else if constexpr (std::is_same_v<T, bool>) {
        bin = bin_of<Edge>(std::uint8_t{from[i]}, pass);
      } else {
        bin = bin_of<Edge>(from[i], pass);
      }
      if (bin >= 0) to[bin] += weight(i);
    }
  };
  if (pass.weights == nullptr)
    return add(static_cast<std::int64_t*>(pass.to), [](std::int64_t) { return std::int64_t{1}; });
  add(static_cast<double*>(pass.to), [&](std::int64_t i) { return pass.weights[i]; });
}

}  // namespace

void search(const SearchPass& pass) {
  invariant(is_sorted_here(pass.dtype), "a search of {}", name(pass.dtype));
  visit_dtype(pass.value_dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (has_order<T>) {
      if (pass.value_dtype == pass.dtype) return search_values<T, T>(pass);
      if constexpr (std::is_integral_v<T>) {
        if (pass.dtype == Dtype::i64) return search_values<std::int64_t, T>(pass);
      }
      invariant(pass.dtype == Dtype::f64, "a search of {} among {}", name(pass.value_dtype),
                name(pass.dtype));
      search_values<double, T>(pass);
    }
  });
}

void count(const CountPass& pass) {
  invariant(is_sorted_here(pass.dtype) && (pass.edge_dtype == Dtype::f64 || pass.edge_dtype == Dtype::i64),
            "counts of {} between edges of {}", name(pass.dtype), name(pass.edge_dtype));
  visit_dtype(pass.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      if (pass.edge_dtype == Dtype::i64) return count_values<std::int64_t, T>(pass);
    }
    if constexpr (has_order<T>) count_values<double, T>(pass);
  });
}

}  // namespace partita::kernels
