#include "callers.hpp"

#include <set>
#include <string>
#include <string_view>

#include "binding.hpp"

namespace partita::python {

namespace {

/// A copy that stays: places point to texts that live as long as the program. One of each.
const char* kept(std::string_view text) {
  static auto& texts = *new std::set<std::string, std::less<>>;  // arrays may outlive static objects
  auto found = texts.find(text);
  if (found == texts.end()) found = texts.emplace(text).first;
  return found->c_str();
}

std::string_view text_of(const nb::str& text) {
  return text.c_str();
}

/// "/.../partita/"
std::string_view folder_of_package() {
  static const std::string& folder = *new std::string([] {
    const nb::str file(nb::module_::import_("partita").attr("__file__"));
    const std::string_view path = text_of(file);
    return path.substr(0, path.rfind('/') + 1);
  }());
  return folder;
}

}  // namespace

SourcePlace caller() {
  PyFrameObject* const innermost = PyEval_GetFrame();
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(innermost));
  while (frame.is_valid() && !frame.is_none()) {
    const nb::object code = frame.attr("f_code");
    const nb::str file(code.attr("co_filename"));
    if (!text_of(file).starts_with(folder_of_package())) {
      const nb::str function(code.attr("co_name"));
      return {kept(text_of(file)), kept(text_of(function)), nb::cast<int>(frame.attr("f_lineno"))};
    }
    frame = frame.attr("f_back");
  }
  return {"Python", "", 0};
}

}  // namespace partita::python
