#include "callers.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "attributes.hpp"
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

/// Where an instruction stands. To look for its line takes longer than all else here, so those that call
/// again and again are kept, with the code that they are of.
class Places {
 public:
  static SourcePlace of(const nb::object& frame, const nb::object& code, const nb::str& file) {
    static const Attribute function_of("co_name"), instruction_of("f_lasti");
    static auto& kept_places = *new std::array<Kept, 64>;  // code may outlive static objects
    const int instruction = nb::cast<int>(instruction_of.of(frame));
    const auto number =
        reinterpret_cast<std::uintptr_t>(code.ptr()) / 64 + static_cast<unsigned>(instruction);
    Kept& one = kept_places.at(number % kept_places.size());
    if (!one.code.is(code) || one.instruction != instruction) {
      const int line = PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject*>(frame.ptr()));
      one = {code, instruction, {kept(text_of(file)), kept(text_of(nb::str(function_of.of(code)))), line}};
    }
    return one.place;
  }

 private:
  struct Kept {
    nb::object code;
    int instruction = -1;
    SourcePlace place{"", "", 0};
  };
};

}  // namespace

SourcePlace caller() {
  static const Attribute code_of("f_code"), file_of("co_filename"), back_of("f_back");
  PyFrameObject* const innermost = PyEval_GetFrame();
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(innermost));
  while (frame.is_valid() && !frame.is_none()) {
    const nb::object code = code_of.of(frame);
    const nb::str file(file_of.of(code));
    if (!text_of(file).starts_with(folder_of_package())) return Places::of(frame, code, file);
    frame = back_of.of(frame);
  }
  return {"Python", "", 0};
}

}  // namespace partita::python
