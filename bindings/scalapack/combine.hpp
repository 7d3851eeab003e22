// The local passes of the additions: both parts hold the same indices.
#pragma once

#include <complex>
#include <partita/view.hpp>

namespace partita::scalapack {

template <class T>
T times(T a, T b) {
  return a * b;
}
/// As BLAS multiplies: without the repair of infinities that C++ asks of complex numbers.
template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
T conjugate_of(T value) {
  return value;
}
template <class T>
std::complex<T> conjugate_of(std::complex<T> value) {
  return {value.real(), -value.imag()};
}

/// Both views column by column; `element(to, from)` is called on every element of a column.
template <class T, class Element>
void along_columns(const View& from, const View& to, Element&& element) {
  for (std::int64_t column = 0; column < to.extents[1]; ++column) {
    T* const target = static_cast<T*>(to.data) + column * to.strides[1];
    const T* const source = static_cast<const T*>(from.data) + column * from.strides[1];
    for (std::int64_t row = 0; row < to.extents[0]; ++row)
      element(target[row * to.strides[0]], source[row * from.strides[0]]);
  }
}

template <class T, class Value>
void combine_values(T alpha, const View& from, T beta, const View& to, Value&& value) {
  if (beta == T(0)) {
    along_columns<T>(from, to, [&](T& c, const T& a) { c = times(alpha, value(a)); });
  } else if (beta == T(1)) {
    along_columns<T>(from, to, [&](T& c, const T& a) { c += times(alpha, value(a)); });
  } else {
    along_columns<T>(from, to, [&](T& c, const T& a) { c = times(beta, c) + times(alpha, value(a)); });
  }
}

/// to = beta to. Where beta is 0, `to` is not read. Both views are two-dimensional, columns first in memory.
template <class T>
void scale(T beta, const View& to) {
  if (beta == T(0)) return along_columns<T>(to, to, [](T& c, const T&) { c = T(0); });
  if (beta != T(1)) along_columns<T>(to, to, [&](T& c, const T&) { c = times(beta, c); });
}

/// to = beta to + alpha from, or alpha conj(from). Where beta is 0, `to` is not read.
template <class T>
void combine(T alpha, const View& from, bool conjugate, T beta, const View& to) {
  if (conjugate) {
    combine_values(alpha, from, beta, to, [](const T& a) { return conjugate_of(a); });
  } else {
    combine_values(alpha, from, beta, to, [](const T& a) { return a; });
  }
}

}  // namespace partita::scalapack
