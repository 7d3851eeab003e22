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

/// Visits the rows of the array's part. Of a part in device memory the body sees a copy; what it changes is
/// copied back.
void visit_rows(const Array& array, const arrays::RowBody& body);

/// Calls `body(number, element)` for each element of the part, as above.
template <class Body>
void each_element(const Array& array, Body&& body) {
  visit_rows(array, visit_dtype(array.dtype(), [&](auto tag) -> arrays::RowBody {
               return [&](const arrays::ElementRow& row) { row.visit<typename decltype(tag)::type>(body); };
             }));
}

/// Which contribution `rank` holds; -1: it owns nothing.
int contribution_of(const Layout& layout, int rank);

int contribution_count(const Layout& layout);

/// Every rank writes the known values of its contribution.
void write_known(Array& array, int round = 0);

using ValueOfNumber = std::function<double(std::int64_t number)>;

void write_values(Array& array, const ValueOfNumber& value);
void write_constant(Array& array, double value);

/// The number of elements of this rank's part that are not these values.
std::int64_t count_others(const Array& array, const ValueOfNumber& value);
std::int64_t count_others(const Array& array, double value);

/// The row-major number in the source of element `number` of the result, whose dimension i is the source's
/// axes[i].
std::int64_t source_number(std::int64_t number, const Shape& result, const Shape& source,
                           const std::vector<int>& axes);

/// The number of elements of this rank's part of `result` that are not what the redistribution of the known
/// values of `source` must give.
std::int64_t count_wrong(const Array& result, const Layout& source, const std::vector<int>& axes = {},
                         int round = 0);

}  // namespace partita::testing
