// partita._core: the public headers, bound one by one.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <partita/context.hpp>
#include <partita/version.hpp>

#include "binding.hpp"
#include "views.hpp"

NB_MODULE(_core, module) {
  using namespace partita::python;
  // Contexts and arrays in variables of a module live as long as the interpreter: that is not a leak.
  nb::set_leak_warnings(false);
  module.doc() = "The bindings of Partita's C++ library. Use the package, which wraps them.";
  module.attr("version") = PARTITA_VERSION;
  module.def("mpi_description", &partita::mpi_description);
  find_numpy();
  bind_errors(module);
  bind_distributions(module);
  bind_layouts(module);
  bind_contexts(module);
  bind_plans(module);
  bind_traces(module);
  bind_arrays(module);
  bind_elementwise(module);
  bind_redistribute(module);
  bind_matmul(module);
  bind_fft(module);
  bind_spectral(module);
  bind_linalg(module);
  bind_collectives(module);
  bind_halos(module);
  bind_sorting(module);
  bind_memory(module);
  bind_files(module);
  bind_pictures(module);
  bind_bench(module);
  bind_xla(module);
}
