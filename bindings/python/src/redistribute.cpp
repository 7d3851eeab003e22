#include <nanobind/nanobind.h>

#include <partita/redistribute.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "destruction.hpp"
#include "plans.hpp"

namespace partita::python {

namespace {

RedistributeOptions options_of(const std::vector<int>& axes, const std::string& order, bool heap,
                               const std::string& method, std::int64_t staging_bytes, const Words& space) {
  RedistributeOptions options;
  options.axes = axes;
  options.order = named("order", order, orders);
  options.residency = residency_of(heap);
  options.space = space_of(space);
  options.method = parse<RedistributeMethod>(method, "method");
  options.staging_bytes = staging_bytes;
  return options;
}

/// In new memory.
template <class Destination>
Array redistributed(const Array& source, const Destination& destination, const RedistributeOptions& options,
                    StreamHandle stream) {
  const SourcePlace where = caller();
  const nb::gil_scoped_release unlocked;
  return redistribute(source, destination, in_stream(options, stream), where);
}

/// Bytes that arrive on some rank from another one.
std::int64_t moved_bytes(const Operand& source, const Layout& destination, const Topology& topology) {
  Operand to = Operand::of(destination, source.dtype);
  to.space = source.space;
  std::int64_t bytes = 0;
  for (int rank = 0; rank < topology.ranks(); ++rank) {
    const Traffic traffic = partita::traffic(plan_redistribute(source, to, topology, rank));
    bytes += traffic.node_bytes + traffic.network_bytes;
  }
  return bytes;
}

}  // namespace

void bind_redistribute(nb::module_& module) {
  nb::class_<RedistributeOptions>(module, "RedistributeOptions")
      .def(
          "__init__",
          [](RedistributeOptions* self, const std::vector<int>& axes, const std::string& order, bool heap,
             const std::string& method, std::int64_t staging_bytes, const Words& space) {
            new (self) RedistributeOptions(options_of(axes, order, heap, method, staging_bytes, space));
          },
          nb::kw_only(), nb::arg("axes") = std::vector<int>{}, nb::arg("order") = "C", nb::arg("heap") = true,
          nb::arg("method") = "automatic", nb::arg("staging_bytes") = 0, nb::arg("space") = nb::none());
  using Options = RedistributeOptions;
  module.def(
      "redistribute",
      [](const Array& source, const Distribution& destination, const Options& options, StreamHandle stream) {
        return redistributed(source, destination, options, stream);
      },
      nb::arg("source"), nb::arg("destination"), nb::arg("options"), nb::arg("stream") = nb::none());
  module.def(
      "redistribute_to_layout",
      [](const Array& source, const Layout& destination, const Options& options, StreamHandle stream) {
        return redistributed(source, destination, options, stream);
      },
      nb::arg("source"), nb::arg("destination"), nb::arg("options"), nb::arg("stream") = nb::none());
  module.def(
      "redistribute_into",
      [](const Array& source, Array& destination, const Options& options, StreamHandle stream) {
        redistribute_into(source, destination, in_stream(options, stream));
      },
      nb::arg("source"), nb::arg("destination"), nb::arg("options"), nb::arg("stream") = nb::none(),
      Unlocked());
  module.def(
      "explain_redistribute",
      [](const Layout& source, const Distribution& destination, Dtype dtype, const Options& options) {
        return explain_redistribute(source, destination, dtype, options);
      },
      nb::arg("source"), nb::arg("destination"), nb::arg("dtype"), nb::arg("options"), Unlocked());
  module.def("moved_bytes", &moved_bytes, nb::arg("source"), nb::arg("destination"), nb::arg("topology"),
             Unlocked());
  module.def(
      "plan_redistribute",
      [](const Operand& source, const Operand& destination, const Topology& topology,
         const Options& options) {
        return Planned{
            [=](int rank) { return plan_redistribute(source, destination, topology, rank, options); },
            topology.ranks()};
      },
      nb::arg("source"), nb::arg("destination"), nb::arg("topology"), nb::arg("options"));
  nb::class_<Redistribute>(module, "Redistribute")
      .def(nb::init<const Context&, const Operand&, const Operand&, const Options&>(), nb::arg("context"),
           nb::arg("source"), nb::arg("destination"), nb::arg("options"), Unlocked())
      .def(
          "execute",
          [](Redistribute& self, const Array& source, Array& destination, StreamHandle stream) {
            self.execute(source, destination, stream_of(stream));
          },
          nb::arg("source"), nb::arg("destination"), nb::arg("stream") = nb::none(), Unlocked())
      .def_prop_ro("plan", &Redistribute::plan, nb::rv_policy::copy)
      .def(
          "explain",
          [](const Redistribute& self, bool steps, bool json) { return explained(self.plan(), steps, json); },
          nb::arg("steps") = false, nb::arg("json") = false);
}

}  // namespace partita::python
