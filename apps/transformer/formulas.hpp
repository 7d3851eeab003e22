// What is computed of single numbers, the same on the host and in kernels of devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/host_device.hpp"

namespace transformer {

/// The moments' decay, and what keeps the quotient finite.
struct AdamRates {
  double learning_rate = 1e-3;
  std::int64_t step = 1;  ///< counted from 1
  double first = 0.9;
  double second = 0.99;
  double epsilon = 1e-8;
};

/// Those of one step, with both moments freed of the zeros that they began with.
template <class T>
struct AdamFactors {
  explicit AdamFactors(const AdamRates& rates)
      : rate(static_cast<T>(rates.learning_rate /
                            (1 - std::pow(rates.first, static_cast<double>(rates.step))))),
        unbias(static_cast<T>(1 / (1 - std::pow(rates.second, static_cast<double>(rates.step))))),
        keep1(static_cast<T>(rates.first)),
        keep2(static_cast<T>(rates.second)),
        epsilon(static_cast<T>(rates.epsilon)) {}
  T rate, unbias, keep1, keep2, epsilon;
};

template <class T>
HOST_AND_DEVICE void adam_step(T& weight, T gradient, T& first, T& second, const AdamFactors<T>& by) {
  first = by.keep1 * first + (1 - by.keep1) * gradient;
  second = by.keep2 * second + (1 - by.keep2) * gradient * gradient;
  weight -= by.rate * first / (std::sqrt(second * by.unbias) + by.epsilon);
}

/// Of the numbers of a column.
template <class T>
struct Moments {
  T mean, scale;  ///< scale: 1 / sqrt(variance + 1e-5)
};
template <class T>
HOST_AND_DEVICE Moments<T> moments_of(T mean, T variance) {
  return {mean, 1 / std::sqrt(variance + T(1e-5))};
}

template <class T>
HOST_AND_DEVICE T normed(T x, const Moments<T>& of, T gain, T bias) {
  return (1 + gain) * (x - of.mean) * of.scale + bias;
}

/// dx = scale (g - mean(g) - xhat mean(g xhat)), g = (1 + gain) dy.
template <class T>
HOST_AND_DEVICE T norm_gradient(T x, const Moments<T>& of, T gain, T dy, T mean, T along) {
  return of.scale * ((1 + gain) * dy - mean - (x - of.mean) * of.scale * along);
}

}  // namespace transformer
