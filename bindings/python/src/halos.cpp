// Ghost cells.
#include <nanobind/nanobind.h>

#include <partita/collectives.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

/// An exchange that was started, and the memory that it uses until it is finished.
struct HaloExchange {
  HaloExchange(const Context& context, const Operand& operand, const HaloOptions& options)
      : halo(context, operand, options) {}
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;
  ~HaloExchange() {
    const nb::gil_scoped_release unlocked;  // as destroy_unlocked
    const Halo ends = std::move(halo);
  }
  Halo halo;
  std::shared_ptr<void> kept;
};

void begin_exchange(HaloExchange& self, const Array& source, const nb::object& extended,
                    StreamHandle stream) {
  const Memory memory("extended", extended, true);
  std::shared_ptr<void> owner = memory.owner();
  const nb::gil_scoped_release unlocked;
  self.halo.start(source, memory.view(), stream_of(stream));
  self.kept = std::move(owner);
}

void end_exchange(HaloExchange& self, StreamHandle stream) {
  const nb::gil_scoped_release unlocked;
  self.halo.finish(stream_of(stream));
  self.kept.reset();
}

}  // namespace

void bind_halos(nb::module_& module) {
  module.def(
      "halo_shape",
      [](const Layout& layout, int rank, const Extents& lower, const Extents& upper,
         const std::vector<bool>& periodic) {
        return halo_shape(layout, rank, {.lower = lower, .upper = upper, .periodic = periodic});
      },
      nb::arg("layout"), nb::arg("rank"), nb::arg("lower"), nb::arg("upper"), nb::arg("periodic"));
  nb::class_<HaloExchange>(module, "Halo")
      .def(
          "__init__",
          [](HaloExchange* self, const Context& context, const Operand& operand, const Extents& lower,
             const Extents& upper, const std::vector<bool>& periodic) {
            const nb::gil_scoped_release unlocked;
            new (self) HaloExchange(context, operand, {.lower = lower, .upper = upper, .periodic = periodic});
          },
          nb::arg("context"), nb::arg("operand"), nb::arg("lower"), nb::arg("upper"), nb::arg("periodic"))
      .def_prop_ro("extended_shape", [](const HaloExchange& self) { return self.halo.extended_shape(); })
      .def(
          "execute",
          [](HaloExchange& self, const Array& source, const nb::object& extended, StreamHandle stream) {
            const Memory memory("extended", extended, true);
            const nb::gil_scoped_release unlocked;
            self.halo.execute(source, memory.view(), stream_of(stream));
          },
          nb::arg("source"), nb::arg("extended"), nb::arg("stream") = nb::none())
      .def(
          "refresh",
          [](HaloExchange& self, const nb::object& extended, StreamHandle stream) {
            const Memory memory("extended", extended, true);
            const nb::gil_scoped_release unlocked;
            self.halo.refresh(memory.view(), stream_of(stream));
          },
          nb::arg("extended"), nb::arg("stream") = nb::none())
      .def(
          "accumulate",
          [](HaloExchange& self, const nb::object& extended, const Array* destination, StreamHandle stream) {
            const Memory memory("extended", extended, destination == nullptr);
            const nb::gil_scoped_release unlocked;
            if (destination == nullptr) return self.halo.accumulate(memory.view(), stream_of(stream));
            self.halo.accumulate(memory.view(), *destination, stream_of(stream));
          },
          nb::arg("extended"), nb::arg("destination") = nb::none(), nb::arg("stream") = nb::none())
      .def("start", &begin_exchange, nb::arg("source"), nb::arg("extended"), nb::arg("stream") = nb::none())
      .def("finish", &end_exchange, nb::arg("stream") = nb::none())
      .def_prop_ro("plan", [](const HaloExchange& self) { return self.halo.plan(); });
}

}  // namespace partita::python
