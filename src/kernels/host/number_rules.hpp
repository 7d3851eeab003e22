// What one number and another are together, complex ones and extrema too, the same for all kernels of the
// host.
#pragma once

#include <complex>
#include <type_traits>

#include "base/number_rules.hpp"

namespace partita::kernels {

using partita::difference_of, partita::product_of, partita::quotient_of, partita::sum_of;

// The plain formula: no second look at infinities, and the same on every machine.
template <class T>
std::complex<T> product_of(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// `before` is a strict order. A NaN on either side is the result: a NaN in `a` is kept by the second
// comparison, one in `b` by the first, which is false then.
template <class T, class Before>
T first_of(T a, T b, Before before) {
  if constexpr (std::is_floating_point_v<T>) {
    return before(a, b) || a != a ? a : b;
  } else {
    return before(a, b) ? a : b;
  }
}

template <class T>
T least_of(T a, T b) {
  return first_of(a, b, [](T x, T y) { return x < y; });
}

template <class T>
T most_of(T a, T b) {
  return first_of(a, b, [](T x, T y) { return x > y; });
}

// The same as objects, for what is made for each of them.
struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return sum_of(a, b);
  }
};
struct Product {
  template <class T>
  T operator()(T a, T b) const {
    return product_of(a, b);
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return least_of(a, b);
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return most_of(a, b);
  }
};

// Smith's method (1962): nothing overflows that need not.
template <class T>
std::complex<T> quotient_of(std::complex<T> a, std::complex<T> b) {
  if (std::abs(b.real()) >= std::abs(b.imag())) {
    const T ratio = b.imag() / b.real(), scale = b.real() + b.imag() * ratio;
    return {(a.real() + a.imag() * ratio) / scale, (a.imag() - a.real() * ratio) / scale};
  }
  const T ratio = b.real() / b.imag(), scale = b.real() * ratio + b.imag();
  return {(a.real() * ratio + a.imag()) / scale, (a.imag() * ratio - a.real()) / scale};
}

}  // namespace partita::kernels
