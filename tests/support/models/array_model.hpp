// Arrays with known values, and what they must be after any redistribution, element by element.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <partita/array.hpp>

#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "base/visit_dtype.hpp"
#include "context/context_state.hpp"

namespace partita::testing {

// Small numbers, so that sums over a few contributions are exact in every dtype; other ones in every round.
inline int known_value(std::int64_t number, int contribution, int round = 0) {
  return static_cast<int>((number * 7 + contribution * 11 + round * 5 + 3) % 23);
}

template <class T>
T make_value(double value) {
  if constexpr (is_small_float_type<T>) {
    return from_float<T>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return static_cast<int>(value) % 2 != 0;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return {static_cast<typename T::value_type>(value), static_cast<typename T::value_type>(-value)};
  }
}

template <class T>
bool same_value(const T& a, const T& b) {
  if constexpr (is_small_float_type<T>) {
    return a.bits == b.bits;
  } else {
    return a == b;
  }
}

/// Which contribution `rank` holds; -1: it owns nothing.
inline int contribution_of(const Layout& layout, int rank) {
  const Region mine = layout.region(rank);
  if (mine.empty()) return -1;
  const std::vector<Layout::Cell> cells = layout.cells(mine);
  const auto& contributions = cells.at(0).contributions;
  for (std::size_t c = 0; c < contributions.size(); ++c) {
    if (std::find(contributions[c].begin(), contributions[c].end(), rank) != contributions[c].end()) {
      return static_cast<int>(c);
    }
  }
  return -1;
}

inline int contribution_count(const Layout& layout) {
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (!region.empty()) return static_cast<int>(layout.cells(region).at(0).contributions.size());
  }
  return 1;
}

template <class T>
T joined_value(std::int64_t number, int contributions, Reduction reduction, int round = 0) {
  double value = known_value(number, 0, round);
  bool flag = make_value<bool>(value);
  for (int c = 1; c < contributions; ++c) {
    const double next = known_value(number, c, round);
    flag = reduction == Reduction::min ? flag && make_value<bool>(next) : flag || make_value<bool>(next);
    value = reduction == Reduction::sum   ? value + next
            : reduction == Reduction::min ? std::min(value, next)
                                          : std::max(value, next);
  }
  if constexpr (std::is_same_v<T, bool>) return flag;
  return make_value<T>(value);
}

/// Of a part in device memory the body sees a copy; what it changes is copied back.
template <class Body>
void each_element(const Array& array, Body&& body) {
  const Array part = arrays::on_host(array);
  bool changed = false;
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    arrays::for_each_element<T>(part.local(), part.layout(), part.context_state()->rank(),
                                [&](std::int64_t number, T& element) {
                                  // Bytes, not a value: memory that was never written may hold no valid one.
                                  std::array<unsigned char, sizeof(T)> before{};
                                  std::memcpy(before.data(), &element, sizeof(T));
                                  body(number, element);
                                  changed = changed || std::memcmp(before.data(), &element, sizeof(T)) != 0;
                                });
  });
  Array target = array;
  if (changed && part.state() != array.state()) copy(part, target);
}

/// Every rank writes the known values of its contribution.
inline void write_known(Array& array, int round = 0) {
  const int contribution = std::max(0, contribution_of(array.layout(), array.context_state()->rank()));
  each_element(array, [&](std::int64_t number, auto& element) {
    element = make_value<std::decay_t<decltype(element)>>(known_value(number, contribution, round));
  });
}

inline void write_constant(Array& array, double value) {
  each_element(array, [&](std::int64_t, auto& element) {
    element = make_value<std::decay_t<decltype(element)>>(value);
  });
}

/// The row-major number in the source of element `number` of the result, whose dimension i is the source's
/// axes[i].
inline std::int64_t source_number(std::int64_t number, const Shape& result, const Shape& source,
                                  const std::vector<int>& axes) {
  if (axes.empty()) return number;
  const Strides of_result = dense_strides(result);
  const Strides of_source = dense_strides(source);
  std::int64_t sum = 0;
  for (int i = 0; i < result.size(); ++i) {
    const std::int64_t index = number / of_result[i] % std::max<std::int64_t>(result[i], 1);
    sum += index * of_source[axes[static_cast<std::size_t>(i)]];
  }
  return sum;
}

/// The number of elements of this rank's part of `result` that are not what the redistribution of the known
/// values of `source` must give.
inline std::int64_t count_wrong(const Array& result, const Layout& source, const std::vector<int>& axes = {},
                                int round = 0) {
  const int contributions = contribution_count(source);
  const Reduction reduction = source.partial() ? source.partial()->reduction : Reduction::sum;
  const Layout wanted = axes.empty() ? source : source.permuted(axes);
  const bool kept = result.layout().partial() && wanted.equivalent(result.layout());
  const int rank = result.context().rank();
  const int mine = contribution_of(result.layout(), rank);
  // Equivalent layouts may number them otherwise: meshes list their ranks.
  const int given = kept ? contribution_of(wanted, rank) : 0;
  std::int64_t wrong = 0;
  each_element(result, [&](std::int64_t number, auto& element) {
    using T = std::decay_t<decltype(element)>;
    const std::int64_t origin = source_number(number, result.shape(), source.shape(), axes);
    T expected = joined_value<T>(origin, contributions, reduction, round);
    if (kept) {
      expected = make_value<T>(known_value(origin, given, round));
    } else if (mine > 0) {
      write_identity(result.layout().partial()->reduction, result.dtype(), &expected);
    }
    if (!same_value(element, expected)) ++wrong;
  });
  return wrong;
}

}  // namespace partita::testing
