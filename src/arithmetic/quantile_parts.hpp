// What quantiles of whole arrays and those over axes share.
#pragma once

#include <algorithm>
#include <partita/array.hpp>
#include <partita/quantiles.hpp>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "arithmetic/lines.hpp"
#include "base/half.hpp"

namespace partita::arithmetic {

/// What is looked for.
struct Quantiles {
  std::string_view operation;
  std::vector<double> q;
  QuantileMethod method = QuantileMethod::linear;
  bool of_numbers = false;  ///< NaNs are left out

  bool is_median() const { return operation.ends_with("median"); }
  /// Of parts in which NaNs may be overwritten.
  DensePart::Elements elements() const {
    return of_numbers ? DensePart::Elements::changed : DensePart::Elements::read;
  }
};

/// Of a quantile among sorted elements: the elements around its place, and where it is between them.
struct QuantilePlace {
  std::int64_t before = 0, after = 0;
  double share = 0;
};

/// Of `count` elements.
QuantilePlace place_of(double q, std::int64_t count, QuantileMethod method);

/// From the elements around it.
double value_at(const QuantilePlace& place, double before, double after, const Quantiles& what);

/// Inside a collective check. `count`: of the elements from which one is found.
void check_quantiles(const Quantiles& what, const Array& array, std::int64_t count,
                     const std::optional<Stream>& stream);

/// In host memory, in a dtype with an order. Runs after the work on the stream. Collective.
Array with_order_on_host(const Array& array, const std::optional<Stream>& stream);

/// Moves what is not NaN to the front; returns it.
template <class T>
std::span<T> without_nan(std::span<T> line) {
  return {line.begin(), std::remove_if(line.begin(), line.end(), [](T x) { return x != x; })};
}

/// Of a sequence of which each rank has some elements in host memory, dense (`Quantiles::elements`); NaN
/// without any. Collective.
std::vector<double> quantiles_of(const Quantiles& what, const Context& context, const View& mine);

template <class T>
double as_double(T value) {
  if constexpr (is_small_float_type<T>) {
    return static_cast<double>(to_float(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(value.real());  // quantiles are not defined for complex numbers
  }
}

}  // namespace partita::arithmetic
