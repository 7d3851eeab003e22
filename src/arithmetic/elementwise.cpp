#include <partita/elementwise.hpp>

#include "arithmetic/joining.hpp"

namespace partita {
namespace {

using arithmetic::join;
using arithmetic::joined;
using kernels::Arithmetic;

constexpr std::string_view add_name = "add", subtract_name = "subtract", multiply_name = "multiply",
                           divide_name = "divide";

}  // namespace

void scale(Array& array, const Scalar& factor, std::optional<Stream> stream) {
  join({"scale", Arithmetic::multiply, array, factor}, array, stream);
}

void axpy(const Scalar& alpha, const Array& x, Array& y, std::optional<Stream> stream) {
  join({"axpy", Arithmetic::axpy, x, y, &alpha}, y, stream);
}

void add(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination, std::optional<Stream> stream) {
  join({add_name, Arithmetic::add, a, b}, destination, stream);
}

void subtract(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
              std::optional<Stream> stream) {
  join({subtract_name, Arithmetic::subtract, a, b}, destination, stream);
}

void multiply(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
              std::optional<Stream> stream) {
  join({multiply_name, Arithmetic::multiply, a, b}, destination, stream);
}

void divide(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
            std::optional<Stream> stream) {
  join({divide_name, Arithmetic::divide, a, b}, destination, stream);
}

Array& operator+=(Array& array, const ArrayOrScalar& other) {
  return add(array, other, array), array;
}
Array& operator-=(Array& array, const ArrayOrScalar& other) {
  return subtract(array, other, array), array;
}
Array& operator*=(Array& array, const ArrayOrScalar& other) {
  return multiply(array, other, array), array;
}
Array& operator/=(Array& array, const ArrayOrScalar& other) {
  return divide(array, other, array), array;
}

Array operator+(const Array& a, const ArrayOrScalar& b) {
  return joined({add_name, Arithmetic::add, a, b});
}
Array operator-(const Array& a, const ArrayOrScalar& b) {
  return joined({subtract_name, Arithmetic::subtract, a, b});
}
Array operator*(const Array& a, const ArrayOrScalar& b) {
  return joined({multiply_name, Arithmetic::multiply, a, b});
}
Array operator/(const Array& a, const ArrayOrScalar& b) {
  return joined({divide_name, Arithmetic::divide, a, b});
}
Array operator+(const Scalar& a, const Array& b) {
  return joined({add_name, Arithmetic::add, a, b});
}
Array operator-(const Scalar& a, const Array& b) {
  return joined({subtract_name, Arithmetic::subtract, a, b});
}
Array operator*(const Scalar& a, const Array& b) {
  return joined({multiply_name, Arithmetic::multiply, a, b});
}
Array operator/(const Scalar& a, const Array& b) {
  return joined({divide_name, Arithmetic::divide, a, b});
}

}  // namespace partita
