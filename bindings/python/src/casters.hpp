// How values pass between Python and C++: extents as tuples, dtypes by NumPy's names, distributions as their
// rules.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <partita/distribution.hpp>
#include <partita/dtype.hpp>
#include <partita/extents.hpp>

namespace partita::python {

/// NumPy's name of the dtype; "bfloat16" is that of the package ml_dtypes.
const char* numpy_name(Dtype dtype);

}  // namespace partita::python

namespace nanobind::detail {

template <>
struct type_caster<partita::Extents> {
  NB_TYPE_CASTER(partita::Extents, const_name("tuple[int, ...]"))

  /// Any sequence of integers, NumPy's among them.
  bool from_python(handle source, uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    value = {};
    const Py_ssize_t size = PySequence_Check(source.ptr()) != 0 ? PySequence_Size(source.ptr()) : -1;
    if (size < 0 || size > partita::max_dimensions) return refused();
    for (Py_ssize_t i = 0; i < size; ++i) {
      const object item = steal(PySequence_GetItem(source.ptr(), i));
      const object number = steal(item.is_valid() ? PyNumber_Index(item.ptr()) : nullptr);
      if (!number.is_valid()) return refused();
      value.push_back(PyLong_AsLongLong(number.ptr()));
      if (PyErr_Occurred() != nullptr) return refused();
    }
    return true;
  }

  static handle from_cpp(const partita::Extents& extents, rv_policy /*policy*/,
                         cleanup_list* /*cleanup*/) noexcept {
    PyObject* const tuple = PyTuple_New(extents.size());
    for (int i = 0; tuple != nullptr && i < extents.size(); ++i)
      PyTuple_SetItem(tuple, i, PyLong_FromLongLong(extents[i]));
    return tuple;
  }

 private:
  static bool refused() noexcept {
    PyErr_Clear();
    return false;
  }
};

template <>
struct type_caster<partita::Dtype> {
  NB_TYPE_CASTER(partita::Dtype, const_name("str"))

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::string_view> text;
    if (!text.from_python(source, flags, cleanup)) return false;
    try {
      value = partita::parse_dtype(text.operator cast_t<std::string_view>());
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  static handle from_cpp(partita::Dtype dtype, rv_policy /*policy*/, cleanup_list* /*cleanup*/) noexcept {
    return PyUnicode_InternFromString(partita::python::numpy_name(dtype));
  }
};

/// By hand, because a distribution has no default.
template <>
struct type_caster<partita::Distribution> {
  using Value = partita::Distribution;
  using Rule = Value::Rule;
  using Rules = make_caster<Rule>;
  static constexpr auto Name = Rules::Name;
  template <class T>
  using Cast = movable_cast_t<T>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
    Rules rules;
    if (!rules.from_python(source, flags, cleanup)) return false;
    value = Value(static_cast<Rule&>(rules));
    return true;
  }

  static handle from_cpp(const Value& distribution, rv_policy /*policy*/, cleanup_list* cleanup) noexcept {
    return Rules::from_cpp(distribution.rule(), rv_policy::copy, cleanup);
  }

  explicit operator Value*() { return &value; }
  explicit operator Value&() { return value; }
  explicit operator Value&&() { return std::move(value); }

  Value value = partita::Replicated{};
};

}  // namespace nanobind::detail
