// Transforms and activations by their definitions.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "plan/verify/numeric_execution.hpp"

namespace partita::verification {
namespace {

using std::numbers::pi;

/// 2 cos, then 2 sin, of pi (j + x) (k + y) / (n + longer): FFTW's cosine and sine transforms I to IV.
struct Angle {
  double x, y, longer;
};
constexpr std::array<Angle, 8> angles{{{0, 0, -1},
                                       {0.5, 0, 0},
                                       {0, 0.5, 0},
                                       {0.5, 0.5, 0},
                                       {1, 1, 1},
                                       {0.5, 1, 0},
                                       {1, 0.5, 0},
                                       {0.5, 0.5, 0}}};

/// The weight of input j in output k of a transform of n.
Number weight(TransformKind kind, std::int64_t n, std::int64_t j, std::int64_t k) {
  if (kind < TransformKind::dct1) {
    const bool backward = kind == TransformKind::complex_backward || kind == TransformKind::complex_to_real;
    const double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
    return std::polar(1.0, (backward ? 2 : -2) * pi * turns);
  }
  const auto number = static_cast<std::size_t>(kind) - static_cast<std::size_t>(TransformKind::dct1);
  const Angle& of = angles.at(number);
  const double angle = pi * (static_cast<double>(j) + of.x) * (static_cast<double>(k) + of.y) /
                       (static_cast<double>(n) + of.longer);
  const bool first = j == 0 && (kind == TransformKind::dct1 || kind == TransformKind::dct3);
  const bool last = j == n - 1 && (kind == TransformKind::dct1 || kind == TransformKind::dst3);
  return (first || last ? 1 : 2) * (kind < TransformKind::dst1 ? std::cos(angle) : std::sin(angle));
}

/// Of half a spectrum the other half, which is not stored; imaginary parts that a real result cannot have are
/// ignored.
Number stored_or_mirrored(const Numbers& line, std::size_t j, std::size_t n) {
  if (j == 0 || 2 * j == n) return line[j].real();
  return 2 * j < n ? line[j] : std::conj(line[n - j]);
}

}  // namespace

Numbers transformed(TransformKind kind, std::int64_t n, int axis, Shape& shape, const Numbers& numbers) {
  const auto length = static_cast<std::size_t>(n), before = static_cast<std::size_t>(shape[axis]);
  if (kind == TransformKind::real_to_complex) shape[axis] = n / 2 + 1;
  if (kind == TransformKind::complex_to_real) shape[axis] = n;
  const auto after = static_cast<std::size_t>(shape[axis]);
  Numbers weights;
  for (std::int64_t k = 0; k < shape[axis]; ++k) {
    for (std::int64_t j = 0; j < n; ++j) weights.push_back(weight(kind, n, j, k));
  }
  std::size_t inner = 1;
  for (int d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  Numbers result(numbers.size() / before * after), line(before);
  for (std::size_t first = 0; first < numbers.size() / before; ++first) {  // the number of a line
    const std::size_t outer = first / inner, within = first % inner;
    for (std::size_t j = 0; j < before; ++j) line[j] = numbers[(outer * before + j) * inner + within];
    for (std::size_t k = 0; k < after; ++k) {
      Number& sum = result[(outer * after + k) * inner + within];
      for (std::size_t j = 0; j < length; ++j) {
        const bool half = kind == TransformKind::complex_to_real;
        sum += (half ? stored_or_mirrored(line, j, length) : line[j]) * weights[k * length + j];
      }
    }
  }
  return result;
}

double activated(Activation activation, double x, double auxiliary) {
  const double root = std::sqrt(2 / pi), cubic = 0.044715, y = auxiliary;
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return x / 2 * (1 + std::tanh(root * (x + cubic * x * x * x)));
    case Activation::drelu:
      return y > 0 ? x : 0;
    case Activation::dgelu: {
      const double t = std::tanh(root * (y + cubic * y * y * y));
      return x * (0.5 * (1 + t) + y / 2 * (1 - t * t) * root * (1 + 3 * cubic * y * y));
    }
  }
  return x;
}

}  // namespace partita::verification
