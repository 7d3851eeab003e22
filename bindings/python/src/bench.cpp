// What the measures of the package (partita/bench.py) compare Python's calls with: the same calls in C++.
#include <nanobind/nanobind.h>

#include <chrono>
#include <partita/collectives.hpp>
#include <partita/fft.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>

#include "binding.hpp"
#include "casters.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

template <class Call>
double seconds_of(int calls, const Call& call) {
  const nb::gil_scoped_release unlocked;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void bind_bench(nb::module_& module) {
  const auto call_count = nb::arg("calls");
  module.def(
      "seconds_of_matmul",
      [](const Array& a, const Array& b, const MatmulOptions& options, int calls) {
        return seconds_of(calls, [&] { (void)matmul(a, b, options); });
      },
      nb::arg("a"), nb::arg("b"), nb::arg("options"), call_count);
  module.def(
      "seconds_of_fft",
      [](const Array& a, const FftOptions& options, int calls) {
        return seconds_of(calls, [&] { (void)fft(a, options); });
      },
      nb::arg("a"), nb::arg("options"), call_count);
  module.def(
      "seconds_of_fft_plan",
      [](const Array& input, Array& output, const FftOptions& options, int calls) {
        const nb::gil_scoped_release unlocked;
        FFT plan(input.context(), input.operand(), output.operand(), options);
        plan.execute(input, output);
        const bool in_stream = input.local().space == MemorySpace::device;
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) {
          in_stream ? plan.execute(input, output, 1, Stream{}) : plan.execute(input, output);
        }
        input.context().synchronize();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      },
      nb::arg("input"), nb::arg("output"), nb::arg("options"), call_count);
  module.def(
      "seconds_of_redistribute",
      [](const Array& a, const Distribution& destination, const RedistributeOptions& options, int calls) {
        return seconds_of(calls, [&] { (void)redistribute(a, destination, options); });
      },
      nb::arg("a"), nb::arg("destination"), nb::arg("options"), call_count);
  module.def(
      "seconds_of_all_reduce",
      [](const Context& context, const nb::object& source, const nb::object& destination, int calls) {
        const Operands operands(source, destination);
        return seconds_of(calls, [&] { all_reduce(context, operands.source(), operands.destination()); });
      },
      nb::arg("context"), nb::arg("source"), nb::arg("destination"), call_count);
}

}  // namespace partita::python
