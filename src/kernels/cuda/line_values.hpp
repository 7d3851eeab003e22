// What a thread moves and computes with at once in transforms of lines, 16 bytes wide: a number of a c128
// line, or those of two lines of c64; and transforms of a few such values in registers.
#pragma once

#include "kernels/cuda/everywhere.hpp"
#include "kernels/cuda/line_pass.hpp"

namespace partita::kernels::cuda {

struct alignas(16) TwoSingles {
  using Real = float;
  static constexpr int lines = 2;
  float real, imaginary, other_real, other_imaginary;

  PARTITA_EVERYWHERE TwoSingles operator+(const TwoSingles& b) const {
    return {real + b.real, imaginary + b.imaginary, other_real + b.other_real,
            other_imaginary + b.other_imaginary};
  }
  PARTITA_EVERYWHERE TwoSingles operator-(const TwoSingles& b) const {
    return {real - b.real, imaginary - b.imaginary, other_real - b.other_real,
            other_imaginary - b.other_imaginary};
  }
  PARTITA_EVERYWHERE TwoSingles times(float c, float s) const {
    return {real * c - imaginary * s, real * s + imaginary * c, other_real * c - other_imaginary * s,
            other_real * s + other_imaginary * c};
  }
  PARTITA_EVERYWHERE TwoSingles times(float factor) const {
    return {real * factor, imaginary * factor, other_real * factor, other_imaginary * factor};
  }
  PARTITA_EVERYWHERE TwoSingles swapped() const { return {imaginary, real, other_imaginary, other_real}; }
  PARTITA_EVERYWHERE TwoSingles conjugate() const { return {real, -imaginary, other_real, -other_imaginary}; }
  PARTITA_EVERYWHERE LineNumber<float> line(int i) const {
    return i == 0 ? LineNumber<float>{real, imaginary} : LineNumber<float>{other_real, other_imaginary};
  }
  PARTITA_EVERYWHERE void set_line(int i, LineNumber<float> number) {
    (i == 0 ? real : other_real) = number.real;
    (i == 0 ? imaginary : other_imaginary) = number.imaginary;
  }
};

struct alignas(16) OneDouble {
  using Real = double;
  static constexpr int lines = 1;
  double real, imaginary;

  PARTITA_EVERYWHERE OneDouble operator+(const OneDouble& b) const {
    return {real + b.real, imaginary + b.imaginary};
  }
  PARTITA_EVERYWHERE OneDouble operator-(const OneDouble& b) const {
    return {real - b.real, imaginary - b.imaginary};
  }
  PARTITA_EVERYWHERE OneDouble times(double c, double s) const {
    return {real * c - imaginary * s, real * s + imaginary * c};
  }
  PARTITA_EVERYWHERE OneDouble times(double factor) const { return {real * factor, imaginary * factor}; }
  PARTITA_EVERYWHERE OneDouble swapped() const { return {imaginary, real}; }
  PARTITA_EVERYWHERE OneDouble conjugate() const { return {real, -imaginary}; }
  PARTITA_EVERYWHERE LineNumber<double> line(int /*i*/) const { return {real, imaginary}; }
  PARTITA_EVERYWHERE void set_line(int /*i*/, LineNumber<double> number) {
    real = number.real;
    imaginary = number.imaginary;
  }
};

// --- transforms in registers

/// Times exp(-2 pi i k / 16), 0 <= k < 8. `k` is known where loops are unrolled.
template <class Value>
PARTITA_EVERYWHERE inline Value turned(const Value& value, int k) {
  using Real = typename Value::Real;
  constexpr Real c1 = Real(0.92387953251128675613), c2 = Real(0.70710678118654752440),
                 c3 = Real(0.38268343236508977173);
  switch (k) {
    case 0:
      return value;
    case 1:
      return value.times(c1, -c3);
    case 2:
      return value.times(c2, -c2);
    case 3:
      return value.times(c3, -c1);
    case 4:
      return value.times(Real(0), Real(-1));
    case 5:
      return value.times(-c3, -c1);
    case 6:
      return value.times(-c2, -c2);
    default:
      return value.times(-c1, -c3);
  }
}

/// Of `radix` values `stride` apart: y_k = e_k + w^k o_k, y_(k + radix/2) = e_k - w^k o_k, e and o the
/// transforms of those of even and odd number.
template <int radix, int stride, class Value>
PARTITA_EVERYWHERE inline void transform_values(const Value* from, Value* to) {
  if constexpr (radix == 1) {
    to[0] = from[0];
  } else {
    constexpr int half = radix / 2;
    Several<Value, half> even, odd;
    transform_values<half, 2 * stride>(from, even);
    transform_values<half, 2 * stride>(from + stride, odd);
    PARTITA_UNROLLED
    for (int k = 0; k < half; ++k) {
      const Value other = turned(odd[k], k * (16 / radix));
      to[k] = even[k] + other;
      to[k + half] = even[k] - other;
    }
  }
}

}  // namespace partita::kernels::cuda
