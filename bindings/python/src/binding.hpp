// What all bindings use. Python sees thin functions here; the package in ../partita has the words for users.
#pragma once

#include <nanobind/nanobind.h>

#include <partita/error.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace partita::python {

namespace nb = nanobind;

/// As the stub shows them.
using Dict = nb::typed<nb::dict, nb::str, nb::any>;
using List = nb::typed<nb::list, nb::any>;
using Tuple = nb::typed<nb::tuple, nb::any, nb::ellipsis>;

/// The interpreter's lock is free while such a call runs: others run Python meanwhile, and ranks that are
/// threads wait for each other in it.
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

/// The value that `word` names. Throws ArgumentError that lists the names.
template <class Value, std::size_t count>
Value named(std::string_view what, std::string_view word,
            const std::pair<std::string_view, Value> (&values)[count]) {
  std::string known;
  for (const auto& [name, value] : values) {
    if (name == word) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw ArgumentError(std::string(what) + " \"" + std::string(word) + "\" is not known; known: " + known);
}

// One a file.
void bind_errors(nb::module_& module);
void bind_distributions(nb::module_& module);
void bind_layouts(nb::module_& module);
void bind_contexts(nb::module_& module);
void bind_plans(nb::module_& module);
void bind_traces(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_elementwise(nb::module_& module);
void bind_redistribute(nb::module_& module);
void bind_matmul(nb::module_& module);
void bind_fft(nb::module_& module);
void bind_spectral(nb::module_& module);
void bind_linalg(nb::module_& module);
void bind_collectives(nb::module_& module);
void bind_halos(nb::module_& module);
void bind_sorting(nb::module_& module);
void bind_memory(nb::module_& module);
void bind_files(nb::module_& module);
void bind_pictures(nb::module_& module);
void bind_bench(nb::module_& module);
void bind_xla(nb::module_& module);

}  // namespace partita::python
