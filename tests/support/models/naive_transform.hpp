// Transforms by their definitions, in long double: FFTW's, unnormalised.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <partita/extents.hpp>
#include <partita/work.hpp>
#include <vector>

namespace partita::testing {

using Number = std::complex<long double>;

/// The weight of input j in output k of a transform of n.
inline Number weight(TransformKind kind, std::int64_t n, std::int64_t j, std::int64_t k) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  const auto real = [](std::int64_t i) { return static_cast<long double>(i); };
  const long double alternating = k % 2 == 0 ? 1 : -1;
  const long double x = real(j), y = real(k), length = real(n), half = 0.5L;
  switch (kind) {
    case TransformKind::complex_forward:
    case TransformKind::real_to_complex:
      return std::polar(1.0L, -2 * pi * real(j * k % n) / length);
    case TransformKind::complex_backward:
    case TransformKind::complex_to_real:
      return std::polar(1.0L, 2 * pi * real(j * k % n) / length);
    case TransformKind::dct1:
      if (j == 0) return 1;
      return j == n - 1 ? alternating : 2 * std::cos(pi * x * y / (length - 1));
    case TransformKind::dct2:
      return 2 * std::cos(pi * (x + half) * y / length);
    case TransformKind::dct3:
      return j == 0 ? 1 : 2 * std::cos(pi * x * (y + half) / length);
    case TransformKind::dct4:
      return 2 * std::cos(pi * (x + half) * (y + half) / length);
    case TransformKind::dst1:
      return 2 * std::sin(pi * (x + 1) * (y + 1) / (length + 1));
    case TransformKind::dst2:
      return 2 * std::sin(pi * (x + half) * (y + 1) / length);
    case TransformKind::dst3:
      return j == n - 1 ? alternating : 2 * std::sin(pi * (x + 1) * (y + half) / length);
    case TransformKind::dst4:
      return 2 * std::sin(pi * (x + half) * (y + half) / length);
  }
  return 0;
}

/// All of them: weights[k * n + j].
inline std::vector<Number> weights_of(TransformKind kind, std::int64_t n) {
  std::vector<Number> weights;
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = 0; j < n; ++j) weights.push_back(weight(kind, n, j, k));
  }
  return weights;
}

/// result[k] = sum of line[j] roots[j * k] over j, where roots are n times `step`. With n = p m, p prime, of
/// the sums of every p-th element; of a prime length the definition.
inline std::vector<Number> complex_line(const std::vector<Number>& line, const std::vector<Number>& roots,
                                        std::size_t step = 1) {
  const std::size_t n = line.size();
  std::size_t p = 2;
  while (p < n && n % p != 0) ++p;
  if (n < 2) return line;
  const std::size_t m = n / p;
  std::vector<std::vector<Number>> parts(p);
  for (std::size_t j = 0; j < n; ++j) parts[j % p].push_back(line[j]);
  if (m > 1) {
    for (std::vector<Number>& part : parts) part = complex_line(part, roots, step * p);
  }
  std::vector<Number> result(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t r = 0; r < p; ++r) result[k] += parts[r][k % m] * roots[step * (r * k % n)];
  }
  return result;
}

/// What `transform_line` multiplies by: of cosines and sines all weights, else those of output 1.
inline std::vector<Number> factors_of(TransformKind kind, std::int64_t n) {
  if (kind >= TransformKind::dct1) return weights_of(kind, n);
  std::vector<Number> roots;
  for (std::int64_t j = 0; j < n; ++j) roots.push_back(weight(kind, n, j, 1));
  return roots;
}

/// One line; `n` is the length on the real side of half transforms.
inline std::vector<Number> transform_line(TransformKind kind, std::int64_t n, const std::vector<Number>& line,
                                          const std::vector<Number>& factors) {
  const auto length = static_cast<std::size_t>(n);
  if (kind >= TransformKind::dct1) {
    std::vector<Number> result(length);
    for (std::size_t k = 0; k < length; ++k) {
      for (std::size_t j = 0; j < length; ++j) result[k] += line[j] * factors[k * length + j].real();
    }
    return result;
  }
  std::vector<Number> full = line;
  if (kind == TransformKind::complex_to_real) {
    // The half that is not stored; imaginary parts that a real result cannot have are ignored.
    full.resize(length);
    full[0] = full[0].real();
    if (length % 2 == 0) full[length / 2] = full[length / 2].real();
    for (std::size_t j = length / 2 + 1; j < length; ++j) full[j] = std::conj(full[length - j]);
  }
  std::vector<Number> result = complex_line(full, factors);
  if (kind == TransformKind::real_to_complex) result.resize(length / 2 + 1);
  return result;
}

inline std::vector<Number> transform_line(TransformKind kind, std::int64_t n,
                                          const std::vector<Number>& line) {
  return transform_line(kind, n, line, factors_of(kind, n));
}

/// A row-major array and its shape.
struct Numbers {
  Shape shape;
  std::vector<Number> values;
};

/// Along one axis, `n` as in `transform_line`.
inline Numbers transform_axis(TransformKind kind, std::int64_t n, int axis, const Numbers& from) {
  Numbers to{from.shape, {}};
  if (kind == TransformKind::real_to_complex) to.shape[axis] = n / 2 + 1;
  if (kind == TransformKind::complex_to_real) to.shape[axis] = n;
  to.values.resize(static_cast<std::size_t>(volume(to.shape)));
  const std::vector<Number> factors = factors_of(kind, n);
  std::int64_t inner = 1;
  for (int d = axis + 1; d < from.shape.size(); ++d) inner *= from.shape[d];
  const std::int64_t outer = volume(from.shape) / (inner * from.shape[axis]);
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      std::vector<Number> line;
      for (std::int64_t j = 0; j < from.shape[axis]; ++j) {
        line.push_back(from.values[static_cast<std::size_t>((o * from.shape[axis] + j) * inner + i)]);
      }
      line = transform_line(kind, n, line, factors);
      for (std::int64_t k = 0; k < to.shape[axis]; ++k) {
        to.values[static_cast<std::size_t>((o * to.shape[axis] + k) * inner + i)] =
            line[static_cast<std::size_t>(k)];
      }
    }
  }
  return to;
}

}  // namespace partita::testing
