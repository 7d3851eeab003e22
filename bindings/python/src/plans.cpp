// Plans as data: of any rank of any number of ranks, explained, checked and priced without running them.
#include "plans.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <partita/machine.hpp>
#include <partita/trace.hpp>
#include <partita/verify_numbers.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"

namespace partita::python {

namespace {

Dict dict_of(const Traffic& traffic) {
  Dict all;
  all["local_bytes"] = traffic.local_bytes;
  all["node_bytes"] = traffic.node_bytes;
  all["network_bytes"] = traffic.network_bytes;
  all["staging_bytes"] = traffic.staging_bytes;
  all["messages"] = traffic.messages;
  all["signals"] = traffic.signals;
  return all;
}

Dict dict_of(const Prediction& prediction) {
  Dict all;
  all["seconds"] = prediction.seconds;
  all["slowest_rank"] = prediction.slowest_rank;
  all["ranks_priced"] = prediction.ranks_priced;
  all["total_bytes"] = prediction.total_bytes;
  all["total_messages"] = prediction.total_messages;
  all["per_rank"] = dict_of(prediction.per_rank);
  return all;
}

/// A whole array of numbers, as verify_numbers is asked for them.
using Whole = nb::ndarray<const std::complex<double>, nb::c_contig, nb::device::cpu>;

std::complex<double> element(const Whole& whole, const Index& at) {
  std::int64_t place = 0;
  for (int i = 0; i < at.size(); ++i)
    place = place * static_cast<std::int64_t>(whole.shape(static_cast<std::size_t>(i))) + at[i];
  return whole.data()[place];
}

/// Operand buffer i holds given[i] in the beginning, and the one behind them `wanted` in the end. Where an
/// array has several contributions, all but one are 0.
std::vector<std::string> verified_on_numbers(const Planned& planned, const std::vector<Whole>& given,
                                             const Whole& wanted, std::complex<double> alpha, int schedules,
                                             std::uint64_t seed) {
  std::vector<OperandNumbers> operands;
  for (const Whole& one : given) {
    operands.push_back({static_cast<int>(operands.size()), [&one](const Index& at, int contribution) {
                          return contribution == 0 ? element(one, at) : 0.0;
                        }});
  }
  operands.push_back(
      {static_cast<int>(operands.size()), {}, [&wanted](const Index& at) { return element(wanted, at); }});
  Parameters parameters;
  parameters.alpha = alpha;
  return unlocked(
      [&] { return verify_numbers(planned.planner, operands, parameters, schedules, seed).faults; });
}

void bind_executed_traffic(nb::module_& module) {
  nb::class_<TrafficRecord>(module, "TrafficRecord")
      .def(nb::init<const Context&>())
      .def("stop", &TrafficRecord::stop)
      .def_prop_ro("executions", [](const TrafficRecord& self) {
        List all;
        for (const ExecutedTraffic& one : self.executions())
          all.append(nb::make_tuple(one.operation, one.method, dict_of(one.traffic)));
        return all;
      });
}

}  // namespace

Machine machine_of(const std::string& name) {
  return name.empty() ? Machine::here() : Machine::find(name);
}

ExplainOptions explained_as(bool steps, bool json) {
  return {json ? ExplainOptions::Format::json : ExplainOptions::Format::text, steps};
}

std::string explained(const Plan& plan, bool steps, bool json) {
  return explain(plan, explained_as(steps, json));
}

void bind_plans(nb::module_& module) {
  nb::class_<Operand>(module, "Operand", "What a planner needs to know of an array. A value.")
      .def(
          "__init__",
          [](Operand* self, const Layout& layout, Dtype dtype, const std::string& order, bool heap) {
            new (self) Operand(Operand::of(layout, dtype, named("order", order, orders), residency_of(heap)));
          },
          nb::arg("layout"), nb::arg("dtype"), nb::arg("order") = "C", nb::arg("heap") = true)
      .def_ro("layout", &Operand::layout)
      .def_ro("dtype", &Operand::dtype)
      .def("__str__", &Operand::to_string)
      .def("__repr__", [](const Operand& self) { return "Operand<" + self.to_string() + ">"; });
  nb::class_<Plan>(module, "Plan", "The steps of one rank, as data.")
      .def_ro("operation", &Plan::operation)
      .def_ro("method", &Plan::method)
      .def_ro("reason", &Plan::reason)
      .def_ro("rank", &Plan::rank)
      .def_prop_ro("steps", [](const Plan& self) { return self.steps.size(); })
      .def("traffic", [](const Plan& self) { return dict_of(traffic(self)); })
      .def("explain", &explained, nb::arg("steps") = false, nb::arg("json") = false);
  nb::class_<Planned>(module, "Planned")
      .def_ro("ranks", &Planned::ranks)
      .def(
          "plan", [](const Planned& self, int rank) { return self.planner(rank); }, nb::arg("rank"),
          Unlocked())
      .def(
          "explain",
          [](const Planned& self, int rank, bool steps, bool json) {
            return explain(self.planner(rank), explained_as(steps, json), self.planner);
          },
          nb::arg("rank") = 0, nb::arg("steps") = false, nb::arg("json") = false, Unlocked())
      .def(
          "verify",
          [](const Planned& self, int schedules, std::uint64_t seed) {
            return verify(self.planner, 0, 1, schedules, seed).faults;
          },
          nb::arg("schedules") = 4, nb::arg("seed") = 1, Unlocked())
      .def(
          "simulate",
          [](const Planned& self, const std::string& machine) {
            const Machine figures = machine_of(machine);
            std::optional<Prediction> prediction;
            {
              const nb::gil_scoped_release unlocked;
              prediction = simulate(self.planner, self.ranks, figures);
            }
            return dict_of(*prediction);
          },
          nb::arg("machine") = "");
  module.def("verify_numbers", &verified_on_numbers, nb::arg("planned"), nb::arg("given"), nb::arg("wanted"),
             nb::arg("alpha"), nb::arg("schedules"), nb::arg("seed"));
  bind_executed_traffic(module);
}

}  // namespace partita::python
