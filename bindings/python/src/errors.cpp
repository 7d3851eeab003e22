// The exception family, as classes of partita/_errors.py.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <partita/call_names.hpp>
#include <partita/error.hpp>
#include <partita/fact.hpp>
#include <partita/refusal.hpp>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "casters.hpp"

namespace partita::python {

namespace {

/// As Python's. A path in it need not be UTF-8.
nb::object shown_as(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

/// `value`: a second argument of the class, or none.
void raise(const char* name, const std::string& text, const nb::object& value = {}) {
  const nb::object family = nb::module_::import_("partita._errors");
  const nb::object kind = family.attr(name);
  const nb::object shown = shown_as(text);
  if (!shown.is_valid()) return;
  const nb::object arguments = value.is_valid() ? nb::make_tuple(shown, value) : shown;
  PyErr_SetObject(kind.ptr(), arguments.ptr());
}

void raise(const char* name, const Error& error) {
  raise(name, std::string(error.what()));
}

/// Classes of Python that are an ArgumentError of the library, whose text has the name behind the operation.
constexpr const char* of_python[] = {"TypeError", "IndexError"};

void raise_argument_error(const char* name, const Error& error) {
  std::string text = error.what();
  for (const char* const kind : of_python) {
    const std::string mark = std::string(kind) + ": ";
    const std::size_t place = text.find(mark);
    if (place == std::string::npos || (place > 0 && !text.substr(0, place).ends_with(": "))) continue;
    return raise(kind, text.erase(place, mark.size()), shown_as(error.what()));  // as the library knows it
  }
  raise(name, text);
}

void raise_singular_error(const SingularError& error) {
  raise("SingularError", error.what(), error.index() < 0 ? nb::object() : nb::int_(error.index()));
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const DisagreementError& error) {
    raise_argument_error("DisagreementError", error);
  } catch (const ArgumentError& error) {
    raise_argument_error("ArgumentError", error);
  } catch (const UnsupportedError& error) {
    raise("UnsupportedError", error);
  } catch (const MemoryError& error) {
    raise("MemoryError", error);
  } catch (const FileError& error) {
    raise("FileError", error);
  } catch (const SingularError& error) {
    raise_singular_error(error);
  } catch (const TimeoutError& error) {
    raise("TimeoutError", error);
  } catch (const LostPeerError& error) {
    raise("LostPeerError", error);
  } catch (const FailedContextError& error) {
    raise("FailedContextError", error);
  } catch (const Error& error) {
    raise("Error", error);
  } catch (const std::bad_cast&) {  // what a sequence or a mapping holds
    PyErr_SetString(PyExc_TypeError, "an element of an argument is of a wrong type");
  }
}

/// Throws the class of that name with the text.
[[noreturn]] void throw_as(std::string_view kind, const std::string& text) {
  if (std::ranges::find(of_python, kind) != std::end(of_python))
    throw ArgumentError(std::string(kind) + ": " + text);
  if (kind == "DisagreementError") throw DisagreementError(text);
  if (kind == "ArgumentError") throw ArgumentError(text);
  if (kind == "UnsupportedError") throw UnsupportedError(text);
  if (kind == "MemoryError") throw MemoryError(text);
  if (kind == "FileError") throw FileError(text);
  if (kind == "SingularError") throw SingularError(text);
  throw Error(text);
}

void throw_from_python(const Context& context, std::string_view operation, std::string_view kind,
                       const std::string& text) {
  try {
    throw_as(kind, text);
  } catch (const Error&) {
    throw_on_all(context, operation);
  }
}

void agree_on(const Context& context, std::string_view operation,
              const std::vector<std::pair<std::string, std::string>>& facts) {
  agree(context, operation, [&] {
    std::vector<Fact> all;
    for (const auto& [name, value] : facts) all.push_back({name, value});
    return all;
  });
}

/// Python's function that gives the name of the call that the thread is in. Never freed: the library may ask
/// until the process ends.
nb::object* called_function = nullptr;

std::string called() {
  if (!nb::is_alive()) return "";
  const nb::gil_scoped_acquire lock;
  try {
    return nb::cast<std::string>((*called_function)());
  } catch (const nb::python_error&) {  // while the interpreter ends
    return "";
  }
}

void name_calls_by_function(nb::object function) {
  called_function = new nb::object(std::move(function));
  name_calls_by(called);
}

}  // namespace

void bind_errors(nb::module_& module) {
  nb::register_exception_translator(translate);
  module.def("throw_on_all", &throw_from_python, nb::arg("context"), nb::arg("operation"), nb::arg("kind"),
             nb::arg("text"), Unlocked());
  module.def("agree", &agree_on, nb::arg("context"), nb::arg("operation"), nb::arg("facts"), Unlocked());
  module.def("name_calls_by", &name_calls_by_function, nb::arg("function"));
  module.def("listen_to_all", &listen_to_all, nb::arg("context"), nb::arg("operation"), Unlocked());
}

}  // namespace partita::python
