// Timelines, as they are measured and as they are predicted.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <partita/machine.hpp>
#include <partita/trace.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "plans.hpp"

namespace partita::python {

namespace {

/// The fields of TracedStep in their order, of each step of each rank.
List steps_of(const Timeline& timeline) {
  List ranks;
  for (const std::vector<TracedStep>& rank : timeline.ranks) {
    List steps;
    for (const TracedStep& one : rank)
      steps.append(nb::make_tuple(one.kind, one.what, one.execution, one.step, one.line, one.begin, one.end));
    ranks.append(steps);
  }
  return ranks;
}

/// `body` returns what went wrong, in one line, or nothing.
Timeline recorded(const Context& context, const nb::typed<nb::callable, std::string()>& body) {
  const std::function<void()> called = [&] {
    std::string wrong;
    {
      const nb::gil_scoped_acquire lock;
      wrong = nb::cast<std::string>(body());
    }
    if (!wrong.empty()) throw Error(wrong);
  };
  return unlocked([&] { return record_timeline(context, called); });
}

Timeline predicted(const Planned& planned, const std::string& machine) {
  return planned_timeline(planned.planner, planned.ranks, machine_of(machine));
}

}  // namespace

void bind_traces(nb::module_& module) {
  nb::class_<Timeline>(module, "Timeline").def_ro("name", &Timeline::name).def_prop_ro("ranks", &steps_of);
  module.def("record_timeline", &recorded, nb::arg("context"), nb::arg("body"));
  module.def("planned_timeline", &predicted, nb::arg("planned"), nb::arg("machine") = "", Unlocked());
  module.def(
      "chrome_trace", [](const std::vector<Timeline>& timelines) { return chrome_trace(timelines); },
      nb::arg("timelines"), Unlocked());
}

}  // namespace partita::python
