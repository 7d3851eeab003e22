// Attributes of Python's objects that are looked at in every call.
#pragma once

#include <nanobind/nanobind.h>

namespace partita::python {

/// An attribute's name, made once: a new one each time costs more than the look at it.
class Attribute {
 public:
  explicit Attribute(const char* name) : name_(PyUnicode_InternFromString(name)) {}
  nanobind::object of(const nanobind::handle& object) const {
    nanobind::object found = nanobind::steal(PyObject_GetAttr(object.ptr(), name_));
    if (!found.is_valid()) nanobind::raise_python_error();
    return found;
  }
  bool is_true_of(const nanobind::handle& object) const { return of(object).is(nanobind::handle(Py_True)); }
  /// What the method of that name gives, without arguments.
  nanobind::object called_of(const nanobind::handle& object) const { return of(object)(); }

 private:
  PyObject* name_;  // stays, as interned texts do
};

}  // namespace partita::python
