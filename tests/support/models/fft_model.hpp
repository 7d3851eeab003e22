// What transforms must give, by their definitions, in long double.
#pragma once

#include <cmath>
#include <complex>
#include <partita/fft.hpp>
#include <vector>

#include "support/models/array_model.hpp"
#include "support/models/naive_transform.hpp"

namespace partita::testing {

using NumberArray = Numbers;

/// The effective kind: what an inverse of it does.
inline FftKind effective(const FftOptions& options) {
  if (!options.inverse) return options.kind;
  switch (options.kind) {
    case FftKind::dct2:
      return FftKind::dct3;
    case FftKind::dct3:
      return FftKind::dct2;
    case FftKind::dst2:
      return FftKind::dst3;
    case FftKind::dst3:
      return FftKind::dst2;
    default:
      return options.kind;
  }
}

/// What is done along one axis, of which half transforms halve or double the last.
inline TransformKind along_axis(const FftOptions& options, bool halved) {
  const FftKind kind = effective(options);
  if (kind >= FftKind::dct1)
    return static_cast<TransformKind>(static_cast<int>(kind) - static_cast<int>(FftKind::dct1) +
                                      static_cast<int>(TransformKind::dct1));
  if (halved) return kind == FftKind::r2c ? TransformKind::real_to_complex : TransformKind::complex_to_real;
  const bool backward = options.inverse || kind == FftKind::c2r;
  return backward ? TransformKind::complex_backward : TransformKind::complex_forward;
}

/// SciPy's `orthogonalize`, by the text of its documentation: before a cosine transform of type I, III and a
/// sine transform of type III the end of a line is multiplied by sqrt(2), after one of type I, II and a sine
/// transform of type II divided by it.
inline void weigh_ends(FftKind kind, bool after, int axis, NumberArray& x) {
  const long double factor = after ? 1 / std::sqrt(2.0L) : std::sqrt(2.0L);
  const bool first = kind == FftKind::dct1 || kind == (after ? FftKind::dct2 : FftKind::dct3);
  const bool last = kind == FftKind::dct1 || kind == (after ? FftKind::dst2 : FftKind::dst3);
  const std::int64_t stride = dense_strides(x.shape)[axis], length = x.shape[axis];
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::int64_t position = static_cast<std::int64_t>(i) / stride % length;
    if ((first && position == 0) || (last && position == length - 1)) x.values[i] *= factor;
  }
}

inline long double logical(FftKind kind, std::int64_t n) {
  const auto length = static_cast<long double>(n);
  if (kind == FftKind::dct1) return 2 * (length - 1);
  if (kind == FftKind::dst1) return 2 * (length + 1);
  return kind >= FftKind::dct2 ? 2 * length : length;
}

/// The whole transform with its norm. From real numbers the halved axis comes first, to them last.
inline NumberArray transformed(const NumberArray& input, const FftOptions& options) {
  std::vector<int> axes = options.axes;
  for (int d = 0; options.axes.empty() && d < input.shape.size(); ++d) axes.push_back(d);
  const int last = axes.back();
  const std::int64_t real_length = options.kind == FftKind::c2r && options.last_length > 0
                                       ? options.last_length
                                       : std::max<std::int64_t>(1, 2 * (input.shape[last] - 1));
  if (options.kind == FftKind::r2c) std::rotate(axes.begin(), axes.end() - 1, axes.end());
  const bool orthogonal =
      options.kind >= FftKind::dct1 && options.orthogonalize.value_or(options.norm == Norm::ortho);
  long double length = 1;
  NumberArray whole = input;
  for (const int axis : axes) {
    const bool halved = axis == last && (options.kind == FftKind::r2c || options.kind == FftKind::c2r);
    const std::int64_t n = options.kind == FftKind::c2r && halved ? real_length : whole.shape[axis];
    if (orthogonal) weigh_ends(effective(options), false, axis, whole);
    whole = transform_axis(along_axis(options, halved), n, axis, whole);
    if (orthogonal) weigh_ends(effective(options), true, axis, whole);
    length *= logical(options.kind, n);
  }
  const bool backward = options.inverse || options.kind == FftKind::c2r;
  long double factor = 1;
  if (options.norm == Norm::ortho) factor = 1 / std::sqrt(length);
  if (options.norm == (backward ? Norm::backward : Norm::forward)) factor = 1 / length;
  for (Number& value : whole.values) value *= factor;
  return whole;
}

// --- arrays

template <class Body>
void each_number(const Array& array, Body&& body) {
  each_element(array, [&](std::int64_t number, auto& element) {
    using T = std::decay_t<decltype(element)>;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                  std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      body(static_cast<std::size_t>(number), element);
    }
  });
}

/// An element in the precision of the model.
template <class T>
Number number_of(const T& element) {
  if constexpr (std::is_floating_point_v<T>) {
    return {static_cast<long double>(element), 0};
  } else {
    return {static_cast<long double>(element.real()), static_cast<long double>(element.imag())};
  }
}

/// The whole array that `fill_random` makes: its values do not depend on the distribution.
inline NumberArray random_whole(const Context& context, const Shape& shape, Dtype dtype, std::uint64_t seed) {
  Array array = empty(context, shape, Replicated(), dtype,
                      {.residency = Residency::ordinary, .space = MemorySpace::host});
  fill_random(array, seed);
  NumberArray whole{shape, std::vector<Number>(static_cast<std::size_t>(volume(shape)))};
  each_number(array, [&](std::size_t number, auto& element) { whole.values[number] = number_of(element); });
  return whole;
}

inline long double norm(const NumberArray& whole) {
  long double sum = 0;
  for (const Number& value : whole.values) sum += std::norm(value);
  return std::sqrt(sum);
}

/// |array - whole| over this rank's part, relative to |whole|.
inline double relative_error(const Array& array, const NumberArray& whole) {
  long double sum = 0;
  each_number(array, [&](std::size_t number, auto& element) {
    sum += std::norm(number_of(element) - whole.values[number]);
  });
  const long double size = norm(whole);
  return static_cast<double>(std::sqrt(sum) / (size > 0 ? size : 1));
}

/// A small multiple of eps log2 N.
inline double tolerance(Dtype dtype, const Shape& shape) {
  const bool single = dtype == Dtype::f32 || dtype == Dtype::c64;
  const double eps = single ? 6e-8 : 1.2e-16;
  return 4 * eps * (2 + std::log2(1 + static_cast<double>(volume(shape))));
}

}  // namespace partita::testing
