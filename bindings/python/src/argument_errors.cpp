#include "argument_errors.hpp"

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace partita::python {

namespace {

using Texts = std::vector<std::string_view>;

/// The parts between separators that stand outside of brackets and quotes.
Texts parts_of(std::string_view text, std::string_view separator) {
  Texts parts;
  int depth = 0;
  char quote = '\0';
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth;
    } else if (c == ']' || c == ')' || c == '}') {
      --depth;
    } else if (depth == 0 && text.substr(i).starts_with(separator)) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + separator.size();
      i = begin - 1;
    }
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

/// What stands before a mark, and behind it.
std::pair<std::string_view, std::string_view> halves_of(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

struct Parameter {
  std::string_view name, type;
  bool has_default = false;
};

struct Signature {
  std::string_view function;
  std::vector<Parameter> parameters;
};

/// "    1. empty(context: partita._core.Context, order: str = 'C') -> partita._core.Array"
Signature signature_of(std::string_view line) {
  const std::string_view call = halves_of(line, ". ").second;
  const std::size_t open = call.find('('), close = call.rfind(')', call.rfind(" -> "));
  Signature signature;
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return signature;
  signature.function = call.substr(0, open);
  for (const std::string_view part : parts_of(call.substr(open + 1, close - open - 1), ", ")) {
    if (part == "/" || part == "*") continue;
    const Texts halves = parts_of(part, " = ");
    const auto [name, type] = halves_of(halves.front(), ": ");
    signature.parameters.push_back({name, type, halves.size() > 1});
  }
  return signature;
}

struct Given {
  Texts types;                                                       ///< by position
  std::vector<std::pair<std::string_view, std::string_view>> named;  ///< names and types
};

/// "partita._core.Context, str, kwargs = { order: int }"
Given given_of(std::string_view text) {
  Given given;
  for (const std::string_view part : parts_of(text, ", ")) {
    if (!part.starts_with("kwargs = { ")) {
      given.types.push_back(part);
      continue;
    }
    for (const std::string_view one : parts_of(part.substr(11, part.size() - 13), ", "))
      given.named.push_back(halves_of(one, ": "));
  }
  return given;
}

enum class Fit : std::uint8_t { yes, maybe, no };

bool is_among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_python(std::string_view type) {
  return is_among(type, {"str", "bytes", "int", "float", "complex", "bool", "NoneType", "list", "tuple",
                         "dict", "set", "function", "type", "module", "range", "object"});
}

/// Whether a value of the type `given` may be what one alternative of an annotation says.
Fit fit_of_one(std::string_view wanted, std::string_view given) {
  const std::string_view base = wanted.substr(0, wanted.find('['));
  const bool is_container = base != wanted;
  if (wanted == "object" || (wanted == "None" && given == "NoneType")) return Fit::yes;
  if (base == given) return is_container || given == "int" || given == "str" ? Fit::maybe : Fit::yes;
  if (base == "collections.abc.Mapping" && given == "dict") return Fit::maybe;
  if (wanted == "None") return Fit::no;
  if (base == "int") return given == "bool" ? Fit::yes : is_python(given) ? Fit::no : Fit::maybe;
  if (base == "float" || base == "complex") {
    if (is_among(given, {"int", "float", "bool"})) return Fit::yes;
    return is_python(given) ? Fit::no : Fit::maybe;
  }
  if (is_among(base, {"tuple", "list", "collections.abc.Sequence"})) {
    if (is_among(given, {"tuple", "list", "range"})) return Fit::maybe;
    return is_python(given) ? Fit::no : Fit::maybe;
  }
  if (is_among(given, {"numpy.bool", "numpy.bool_", "numpy.str_"})) return Fit::maybe;
  return is_python(given) || given.starts_with("partita.") || is_python(base) ? Fit::no : Fit::maybe;
}

Fit fit_of(std::string_view wanted, std::string_view given) {
  Fit best = wanted.empty() ? Fit::yes : Fit::no;  // self has no type
  for (const std::string_view one : parts_of(wanted, " | ")) best = std::min(best, fit_of_one(one, given));
  return best;
}

/// As users know the types.
std::string short_type(std::string_view type) {
  std::string text(type);
  for (const std::string_view prefix : {"partita._core.", "collections.abc."}) {
    for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
      text.erase(at, prefix.size());
  }
  return text;
}

/// What is wrong with a call of this signature.
struct Complaint {
  std::size_t wrong = 0;  ///< how many arguments certainly are
  std::string text;
};

void add(std::string& text, const std::string& more) {
  text += (text.empty() ? "" : "; ") + more;
}

Complaint complaint_of(const Signature& signature, const Given& given) {
  const std::vector<Parameter>& parameters = signature.parameters;
  const bool has_self = !parameters.empty() && parameters.front().name == "self";
  Complaint complaint;
  std::string maybe, text;  // what may be wrong; names and texts among them seldom are
  int others = 0;
  std::vector<bool> seen(parameters.size());
  const auto look_at = [&](std::size_t place, std::string_view type) {
    const Parameter& parameter = parameters[place];
    seen[place] = true;
    const Fit fit = fit_of(parameter.type, type);
    if (fit == Fit::yes) return;
    const std::string expected = std::string(parameter.name) + ": expected " + short_type(parameter.type);
    if (fit == Fit::no) {
      ++complaint.wrong;
      add(complaint.text, expected + ", got " + short_type(type));
    } else {
      const bool is_text = type == "str";
      others += is_text ? 0 : 1;
      add(is_text ? text : maybe, expected + ", and this " + short_type(type) + " does not fit");
    }
  };
  for (std::size_t i = 0; i < std::min(given.types.size(), parameters.size()); ++i)
    look_at(i, given.types[i]);
  if (given.types.size() > parameters.size()) {
    ++complaint.wrong;
    const std::size_t self = has_self ? 1 : 0;
    add(complaint.text, "takes " + std::to_string(parameters.size() - self) + " arguments, got " +
                            std::to_string(given.types.size() - self));
  }
  for (const auto& [name, type] : given.named) {
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    if (found != parameters.end()) {
      look_at(static_cast<std::size_t>(found - parameters.begin()), type);
      continue;
    }
    ++complaint.wrong;
    add(complaint.text, "there is no argument " + std::string(name));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (seen[i] || parameters[i].has_default) continue;
    ++complaint.wrong;
    add(complaint.text,
        "the argument " + std::string(parameters[i].name) + " is missing: " + short_type(parameters[i].type));
  }
  if (complaint.wrong == 0)
    complaint.text = (others > 1 ? "one of these: " : "") + (others > 0 ? maybe : text);
  return complaint;
}

/// Of a constructor, its class.
std::string function_name(const Signature& signature, const Given& given) {
  if (signature.function != "__init__" || given.types.empty()) return std::string(signature.function);
  return short_type(given.types.front());
}

}  // namespace

std::optional<std::string> in_words(std::string_view text) {
  constexpr std::string_view mark = "(): incompatible function arguments. ", end = "\n\nInvoked with types: ";
  const auto [head, invoked] = halves_of(text, end);
  if (head.find(mark) == std::string_view::npos || invoked.data() == nullptr) return std::nullopt;
  const Given given = given_of(invoked);
  std::optional<Complaint> best;
  std::string name;
  Texts lines = parts_of(halves_of(head, "\n").second, "\n");
  for (const std::string_view line : lines) {
    const Signature signature = signature_of(line);
    if (signature.function.empty()) return std::nullopt;
    Complaint complaint = complaint_of(signature, given);
    name = function_name(signature, given);
    if (!best || complaint.wrong < best->wrong) best = std::move(complaint);
  }
  if (!best || best->text.empty()) return std::nullopt;
  return name + "(): " + best->text;
}

}  // namespace partita::python

// nanobind says by this function of Python's that no signature fits, wherever a bound function is called
// from. The linker puts ours in its place (--wrap, see CMakeLists.txt).
extern "C" {
void __real_PyErr_SetString(PyObject* kind, const char* text);  // NOLINT(bugprone-reserved-identifier)

void __wrap_PyErr_SetString(PyObject* kind, const char* text);   // NOLINT(bugprone-reserved-identifier)
void __wrap_PyErr_SetString(PyObject* kind, const char* text) {  // NOLINT(bugprone-reserved-identifier)
  if (kind == PyExc_TypeError) {
    try {
      if (const auto words = partita::python::in_words(text))
        return __real_PyErr_SetString(kind, words->c_str());
    } catch (const std::exception&) {  // no memory: the long text
    }
  }
  __real_PyErr_SetString(kind, text);
}
}
