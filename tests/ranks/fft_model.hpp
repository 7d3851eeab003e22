// What transforms must give, computed line by line from their definitions, in long double.
#pragma once

#include <cmath>
#include <complex>
#include <numbers>
#include <partita/fft.hpp>
#include <vector>

#include "ranks/array_model.hpp"

namespace partita::testing {

using Number = std::complex<long double>;

/// A whole array, row-major.
struct NumberArray {
  Shape shape;
  std::vector<Number> values;
};

inline Number unit(long double turns) {
  const long double angle = 2 * std::numbers::pi_v<long double> * turns;
  return {std::cos(angle), std::sin(angle)};
}

/// FFTW's definition of a DCT or DST: element k of the transform of x.
inline long double cosine_or_sine(FftKind kind, const std::vector<Number>& x, std::int64_t k) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto count = static_cast<long double>(n);
  const auto at = [&](std::int64_t j) { return x[static_cast<std::size_t>(j)].real(); };
  const long double sign = k % 2 == 0 ? 1 : -1;
  const auto kk = static_cast<long double>(k);
  const auto sum = [&](std::int64_t first, std::int64_t last, auto&& factor) {
    long double total = 0;
    for (std::int64_t j = first; j < last; ++j) total += 2 * at(j) * factor(static_cast<long double>(j));
    return total;
  };
  const auto cosine = [](long double half_turns) { return unit(half_turns / 2).real(); };
  const auto sine = [](long double half_turns) { return unit(half_turns / 2).imag(); };
  switch (kind) {
    case FftKind::dct1:
      return at(0) + sign * at(n - 1) + sum(1, n - 1, [&](auto j) { return cosine(j * kk / (count - 1)); });
    case FftKind::dct2:
      return sum(0, n, [&](auto j) { return cosine((j + 0.5L) * kk / count); });
    case FftKind::dct3:
      return at(0) + sum(1, n, [&](auto j) { return cosine(j * (kk + 0.5L) / count); });
    case FftKind::dct4:
      return sum(0, n, [&](auto j) { return cosine((j + 0.5L) * (kk + 0.5L) / count); });
    case FftKind::dst1:
      return sum(0, n, [&](auto j) { return sine((j + 1) * (kk + 1) / (count + 1)); });
    case FftKind::dst2:
      return sum(0, n, [&](auto j) { return sine((j + 0.5L) * (kk + 1) / count); });
    case FftKind::dst3:
      return sign * at(n - 1) + sum(0, n - 1, [&](auto j) { return sine((j + 1) * (kk + 0.5L) / count); });
    default:
      return sum(0, n, [&](auto j) { return sine((j + 0.5L) * (kk + 0.5L) / count); });
  }
}

inline std::vector<Number> complex_line(const std::vector<Number>& x, int sign) {
  const std::size_t n = x.size();
  std::vector<Number> roots(n);
  for (std::size_t j = 0; j < n; ++j)
    roots[j] = unit(sign * static_cast<long double>(j) / static_cast<long double>(n));
  std::vector<Number> result(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) result[k] += x[j] * roots[j * k % n];
  }
  return result;
}

/// n real numbers of the half spectrum: the rest of the spectrum is its mirror image.
inline std::vector<Number> real_line(const std::vector<Number>& half, std::int64_t n) {
  std::vector<Number> whole(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t mirrored = n - k;
    whole[static_cast<std::size_t>(k)] =
        k <= n / 2 ? half[static_cast<std::size_t>(k)] : std::conj(half[static_cast<std::size_t>(mirrored)]);
  }
  std::vector<Number> result = complex_line(whole, 1);
  for (Number& value : result) value = value.real();
  return result;
}

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

/// SciPy's `orthogonalize`, by the text of its documentation: before a cosine transform of type I, III and a
/// sine transform of type III the end of a line is multiplied by sqrt(2), after one of type I, II and a sine
/// transform of type II divided by it.
inline void weigh_ends(FftKind kind, bool after, std::vector<Number>& x) {
  const long double factor = after ? 1 / std::sqrt(2.0L) : std::sqrt(2.0L);
  const bool first = kind == FftKind::dct1 || kind == (after ? FftKind::dct2 : FftKind::dct3);
  const bool last = kind == FftKind::dct1 || kind == (after ? FftKind::dst2 : FftKind::dst3);
  if (first) x.front() *= factor;
  if (last) x.back() *= factor;
}

inline std::vector<Number> line(const std::vector<Number>& x, const FftOptions& options, bool halved,
                                std::int64_t real_length) {
  const FftKind kind = effective(options);
  if (kind == FftKind::c2r && halved) {
    std::vector<Number> half = x;
    half.front() = half.front().real();
    if (real_length % 2 == 0) half.back() = half.back().real();
    return real_line(half, real_length);
  }
  if (kind == FftKind::c2c || kind == FftKind::r2c || kind == FftKind::c2r) {
    std::vector<Number> result = complex_line(x, options.inverse || kind == FftKind::c2r ? 1 : -1);
    if (kind == FftKind::r2c && halved) result.resize(x.size() / 2 + 1);
    return result;
  }
  const bool orthogonal = options.orthogonalize.value_or(options.norm == Norm::ortho);
  std::vector<Number> weighed = x, result;
  if (orthogonal) weigh_ends(kind, false, weighed);
  for (std::size_t k = 0; k < x.size(); ++k)
    result.push_back(cosine_or_sine(kind, weighed, static_cast<std::int64_t>(k)));
  if (orthogonal) weigh_ends(kind, true, result);
  return result;
}

inline NumberArray along(const NumberArray& from, int axis, const FftOptions& options, bool halved,
                         std::int64_t real_length) {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (int d = 0; d < from.shape.size(); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : from.shape[d];
  const std::int64_t n = from.shape[axis];
  NumberArray to;
  to.shape = from.shape;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      std::vector<Number> x;
      for (std::int64_t j = 0; j < n; ++j)
        x.push_back(from.values[static_cast<std::size_t>((o * n + j) * inner + i)]);
      const std::vector<Number> y = line(x, options, halved, real_length);
      const auto m = static_cast<std::int64_t>(y.size());
      to.shape[axis] = m;
      to.values.resize(static_cast<std::size_t>(outer * m * inner));
      for (std::int64_t j = 0; j < m; ++j)
        to.values[static_cast<std::size_t>((o * m + j) * inner + i)] = y[static_cast<std::size_t>(j)];
    }
  }
  return to;
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
  long double length = 1;
  NumberArray whole = input;
  for (const int axis : axes) {
    const bool halved = axis == last && (options.kind == FftKind::r2c || options.kind == FftKind::c2r);
    const std::int64_t before = whole.shape[axis];
    whole = along(whole, axis, options, halved, real_length);
    length *= logical(options.kind, options.kind == FftKind::c2r && halved ? real_length : before);
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
  Array array =
      empty(context, shape, Replicated(), dtype, {Residency::ordinary, Order::row_major, MemorySpace::host});
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
