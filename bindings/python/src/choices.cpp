#include "choices.hpp"

#include <nanobind/stl/complex.h>

namespace partita::python {

Scalar scalar_of(const nb::handle& number) {
  PyObject* const given = number.ptr();
  if (PyBool_Check(given)) return given == Py_True;
  if (PyIndex_Check(given) != 0) {
    const nb::object integer = nb::steal(PyNumber_Index(given));
    if (!integer.is_valid()) throw nb::python_error();
    const long long value = PyLong_AsLongLong(integer.ptr());
    if (PyErr_Occurred() == nullptr) return static_cast<std::int64_t>(value);
    PyErr_Clear();
    const unsigned long long large = PyLong_AsUnsignedLongLong(integer.ptr());
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return static_cast<std::uint64_t>(large);
  }
  if (PyComplex_Check(given)) return nb::cast<std::complex<double>>(number);
  const nb::object dtype = nb::getattr(number, "dtype", nb::none());
  if (!dtype.is_none()) {  // a number of NumPy's: by what Python has for its kind
    const nb::object item = number.attr("item")();
    if (PyBool_Check(item.ptr()) || PyLong_Check(item.ptr()) || PyComplex_Check(item.ptr()))
      return scalar_of(item);
    return nb::cast<double>(item);
  }
  const double real = PyFloat_AsDouble(given);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return real;
}

Scalar scalar_for(Dtype dtype, const nb::handle& number) {
  const Scalar given = scalar_of(number);
  if (dtype != Dtype::boolean || given.dtype() != Dtype::i64) return given;
  const auto value = given.as<std::int64_t>();
  return value == 0 || value == 1 ? Scalar(value == 1) : given;
}

nb::object python_number(const Scalar& number) {
  const Dtype dtype = number.dtype();
  if (dtype == Dtype::boolean) return nb::bool_(number.as<bool>());
  if (is_complex(dtype)) return nb::cast(number.as<std::complex<double>>());
  if (dtype == Dtype::u64) return nb::int_(number.as<std::uint64_t>());
  if (is_integer(dtype)) return nb::int_(number.as<std::int64_t>());
  return nb::float_(number.as<double>());
}

}  // namespace partita::python
