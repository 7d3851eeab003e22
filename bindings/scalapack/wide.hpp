// Numbers of the caller's type in double precision.
#pragma once

#include <complex>

namespace partita::scalapack {

/// As Partita takes alpha and beta.
template <class T>
std::complex<double> wide(T number) {
  return static_cast<double>(number);
}
template <class T>
std::complex<double> wide(std::complex<T> number) {
  return {static_cast<double>(number.real()), static_cast<double>(number.imag())};
}

}  // namespace partita::scalapack
