// Collectives and messages, on memory of any package.
#include <nanobind/nanobind.h>

#include <partita/collectives.hpp>

#include "binding.hpp"
#include "casters.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

ReduceOptions reduced_by(const std::string& reduction) {
  return {parse_reduction(reduction), false};
}

using Counts = std::vector<std::int64_t>;

/// `call(source, destination)`, with the interpreter's lock free.
template <class Call>
void between(const nb::handle& source, const nb::handle& destination, const Call& call) {
  const Operands operands(source, destination);
  const nb::gil_scoped_release unlocked;
  call(operands.source(), operands.destination());
}

/// The same where only the root has a destination, or a source: None on the others.
template <class Call>
void with_root(const nb::handle& source, const nb::handle& destination, const Call& call) {
  std::optional<Memory> from, to;
  if (!source.is_none()) from.emplace("source", source, false);
  if (!destination.is_none()) to.emplace("destination", destination, true);
  const nb::gil_scoped_release unlocked;
  call(from ? from->view() : View{}, to ? to->view() : View{});
}

void bind_rooted(nb::module_& module) {
  module.def("broadcast", [](const Context& context, const nb::object& array, int root) {
    const Memory memory("array", array, context.rank() != root);
    const nb::gil_scoped_release unlocked;
    broadcast(context, memory.view(), root);
  });
  const auto source = nb::arg("source").none(), destination = nb::arg("destination").none();
  module.def(
      "reduce",
      [](const Context& context, const nb::object& from, const nb::object& to, const std::string& reduction,
         int root) {
        const ReduceOptions options = reduced_by(reduction);
        with_root(from, to, [&](const View& a, const View& b) { reduce(context, a, b, options, root); });
      },
      nb::arg("context"), source, destination, nb::arg("reduction"), nb::arg("root"));
  module.def(
      "gather_memory",
      [](const Context& context, const nb::object& from, const nb::object& to, const Counts& counts,
         int root) {
        with_root(from, to, [&](const View& a, const View& b) {
          counts.empty() ? gather(context, a, b, root) : gather_v(context, a, b, counts, root);
        });
      },
      nb::arg("context"), source, destination, nb::arg("counts"), nb::arg("root"));
  module.def(
      "scatter_memory",
      [](const Context& context, const nb::object& from, const nb::object& to, const Counts& counts,
         int root) {
        with_root(from, to, [&](const View& a, const View& b) {
          counts.empty() ? scatter(context, a, b, root) : scatter_v(context, a, b, counts, root);
        });
      },
      nb::arg("context"), source, destination, nb::arg("counts"), nb::arg("root"));
}

void bind_between_all(nb::module_& module) {
  module.def("all_reduce", [](const Context& context, const nb::object& from, const nb::object& to,
                              const std::string& reduction) {
    const ReduceOptions options = reduced_by(reduction);
    between(from, to, [&](const View& a, const View& b) { all_reduce(context, a, b, options); });
  });
  module.def("all_gather",
             [](const Context& context, const nb::object& from, const nb::object& to, const Counts& counts) {
               between(from, to, [&](const View& a, const View& b) {
                 counts.empty() ? all_gather(context, a, b) : all_gather_v(context, a, b, counts);
               });
             });
  module.def("reduce_scatter", [](const Context& context, const nb::object& from, const nb::object& to,
                                  const Counts& counts, const std::string& reduction) {
    const ReduceOptions options = reduced_by(reduction);
    between(from, to, [&](const View& a, const View& b) {
      counts.empty() ? reduce_scatter(context, a, b, options)
                     : reduce_scatter_v(context, a, b, counts, options);
    });
  });
  module.def("all_to_all", [](const Context& context, const nb::object& from, const nb::object& to,
                              const Counts& sent, const Counts& received) {
    between(from, to, [&](const View& a, const View& b) {
      sent.empty() && received.empty() ? all_to_all(context, a, b)
                                       : all_to_all_v(context, a, b, sent, received);
    });
  });
  module.def("scan", [](const Context& context, const nb::object& from, const nb::object& to,
                        const std::string& reduction, bool exclusive) {
    const ReduceOptions options = reduced_by(reduction);
    between(from, to, [&](const View& a, const View& b) {
      scan(context, a, b, options, exclusive ? Scan::exclusive : Scan::inclusive);
    });
  });
}

}  // namespace

void bind_collectives(nb::module_& module) {
  bind_rooted(module);
  bind_between_all(module);
  module.def("send", [](const Context& context, const nb::object& array, int peer, int tag) {
    const Memory memory("array", array, false);
    const nb::gil_scoped_release unlocked;
    send(context, memory.view(), peer, tag);
  });
  module.def("receive", [](const Context& context, const nb::object& array, int peer, int tag) {
    const Memory memory("array", array, true);
    const nb::gil_scoped_release unlocked;
    receive(context, memory.view(), peer, tag);
  });
  module.def("send_receive", [](const Context& context, const nb::object& sent, int to,
                                const nb::object& received, int from, int tag) {
    between(sent, received,
            [&](const View& a, const View& b) { send_receive(context, a, to, b, from, tag); });
  });
}

}  // namespace partita::python
