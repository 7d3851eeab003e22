#include <nanobind/nanobind.h>

#include <partita/matmul.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "destruction.hpp"
#include "plans.hpp"

namespace partita::python {

namespace {

void bind_matmul_options(nb::module_& module) {
  nb::class_<MatmulOptions>(module, "MatmulOptions")
      .def(
          "__init__",
          [](MatmulOptions* self, const std::string& op_a, const std::string& op_b,
             std::complex<double> alpha, std::complex<double> beta, const std::string& epilogue,
             const std::optional<Distribution>& distribution, const std::string& order, bool heap,
             std::optional<Dtype> result, const std::string& compute, std::optional<Dtype> scale,
             const std::string& method, std::int64_t memory_limit, const Words& space,
             const std::string& scale_mode, std::optional<Dtype> reduce_dtype,
             const std::string& wisdom_file) {
            MatmulOptions options;
            options.op_a = parse<Op>(op_a, "op_a");
            options.op_b = parse<Op>(op_b, "op_b");
            options.alpha = alpha;
            options.beta = beta;
            options.epilogue = parse<Epilogue>(epilogue, "epilogue");
            options.distribution = distribution;
            options.order = named("order", order, orders);
            options.residency = residency_of(heap);
            options.result = result;
            options.compute = parse<ComputeType>(compute, "compute");
            options.scale = scale;
            options.method = parse<MatmulMethod>(method, "method");
            options.memory_limit = memory_limit;
            options.space = space_of(space);
            options.scale_mode = parse<ScaleMode>(scale_mode, "scale_mode");
            options.reduce_dtype = reduce_dtype;
            options.wisdom_file = wisdom_file;
            new (self) MatmulOptions(std::move(options));
          },
          nb::kw_only(), nb::arg("op_a") = "none", nb::arg("op_b") = "none", nb::arg("alpha") = 1.0,
          nb::arg("beta") = 0.0, nb::arg("epilogue") = "none", nb::arg("distribution") = nb::none(),
          nb::arg("order") = "C", nb::arg("heap") = true, nb::arg("result") = nb::none(),
          nb::arg("compute") = "automatic", nb::arg("scale") = nb::none(), nb::arg("method") = "automatic",
          nb::arg("memory_limit") = 0, nb::arg("space") = nb::none(), nb::arg("scale_mode") = "automatic",
          nb::arg("reduce_dtype") = nb::none(), nb::arg("wisdom_file") = "")
      .def_ro("alpha", &MatmulOptions::alpha)
      .def_ro("beta", &MatmulOptions::beta);
}

/// Which of an epilogue's arrays there are: by their names in EpilogueOperands and EpilogueArrays.
void bind_matmul_operands(nb::module_& module) {
  using Maybe = const std::optional<Operand>&;
  const auto arg = [](const char* name) { return nb::arg(name) = nb::none(); };
  nb::class_<MatmulOperands>(module, "MatmulOperands")
      .def(
          "__init__",
          [](MatmulOperands* self, const Operand& a, const Operand& b, const Operand& d, Maybe c, Maybe bias,
             Maybe auxiliary, Maybe gradient, Maybe scale_a, Maybe scale_b, Maybe scale_d, Maybe amax_d) {
            new (self)
                MatmulOperands{a, b, c, d, {bias, auxiliary, gradient, scale_a, scale_b, scale_d, amax_d}};
          },
          nb::arg("a"), nb::arg("b"), nb::arg("d"), arg("c"), arg("bias"), arg("auxiliary"), arg("gradient"),
          arg("scale_a"), arg("scale_b"), arg("scale_d"), arg("amax_d"));
  nb::class_<EpilogueArrays>(module, "EpilogueArrays")
      .def(
          "__init__",
          [](EpilogueArrays* self, const Array* bias, Array* auxiliary, Array* gradient, const Array* scale_a,
             const Array* scale_b, const Array* scale_d, Array* amax_d) {
            new (self) EpilogueArrays{bias, auxiliary, gradient, scale_a, scale_b, scale_d, amax_d};
          },
          arg("bias"), arg("auxiliary"), arg("gradient"), arg("scale_a"), arg("scale_b"), arg("scale_d"),
          arg("amax_d"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
          nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>());
}

void bind_matmul_object(nb::module_& module) {
  nb::class_<Matmul>(module, "Matmul")
      .def(nb::init<const Context&, const MatmulOperands&, const MatmulOptions&, bool>(), nb::arg("context"),
           nb::arg("operands"), nb::arg("options"), nb::arg("in_place"), Unlocked())
      .def(
          "reset",
          [](Matmul& self, const Array& a, const Array& b, const Array* c, Array& d,
             const EpilogueArrays& arrays) { self.reset(a, b, c, d, arrays); },
          nb::arg("a"), nb::arg("b"), nb::arg("c").none(), nb::arg("d"), nb::arg("arrays"))
      .def("unbind", &Matmul::unbind)
      .def(
          "execute",
          [](Matmul& self, std::complex<double> alpha, std::complex<double> beta, StreamHandle stream) {
            self.execute(alpha, beta, stream_of(stream));
          },
          nb::arg("alpha"), nb::arg("beta"), nb::arg("stream") = nb::none(), Unlocked())
      .def("autotune", &Matmul::autotune, nb::arg("runs") = 3, Unlocked())
      .def_prop_ro("workspace_size", &Matmul::workspace_size)
      .def("release", &Matmul::release, Unlocked())
      .def_prop_ro("plan", &Matmul::plan, nb::rv_policy::copy)
      .def(
          "explain",
          [](const Matmul& self, bool steps, bool json) { return explained(self.plan(), steps, json); },
          nb::arg("steps") = false, nb::arg("json") = false);
}

Array product(const Array& a, const Array& b, const Array* c, const MatmulOptions& given,
              const EpilogueArrays& arrays, StreamHandle stream) {
  const SourcePlace where = caller();
  const nb::gil_scoped_release unlocked;
  const MatmulOptions options = in_stream(given, stream);
  return c == nullptr ? matmul(a, b, options, arrays, where) : matmul(a, b, *c, options, arrays, where);
}

}  // namespace

void bind_matmul(nb::module_& module) {
  bind_matmul_options(module);
  bind_matmul_operands(module);
  bind_matmul_object(module);
  module.def("matmul", &product, nb::arg("a"), nb::arg("b"), nb::arg("c").none(), nb::arg("options"),
             nb::arg("arrays"), nb::arg("stream") = nb::none());
  module.def(
      "matmul_into",
      [](const Array& a, const Array& b, const Array* c, Array& d, const MatmulOptions& options,
         const EpilogueArrays& arrays,
         StreamHandle stream) { matmul_into(a, b, c, d, in_stream(options, stream), arrays); },
      nb::arg("a"), nb::arg("b"), nb::arg("c").none(), nb::arg("d"), nb::arg("options"), nb::arg("arrays"),
      nb::arg("stream") = nb::none(), Unlocked());
  module.def(
      "cheapest_result",
      [](const Context& context, const Operand& a, const Operand& b, const MatmulOptions& options) {
        return cheapest_result(context, a, b, options);
      },
      nb::arg("context"), nb::arg("a"), nb::arg("b"), nb::arg("options"), Unlocked());
  module.def(
      "cheapest_result",
      [](const Operand& a, const Operand& b, const Topology& topology, const MatmulOptions& options,
         const std::string& machine) {
        return cheapest_result(a, b, topology, options, machine_of(machine));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("topology"), nb::arg("options"), nb::arg("machine") = "",
      Unlocked());
  module.def(
      "result_dtype",
      [](Dtype factors, const MatmulOptions& options) { return result_dtype(factors, options); },
      nb::arg("factors"), nb::arg("options"));
  module.def(
      "plan_matmul",
      [](const MatmulOperands& operands, const Topology& topology, const MatmulOptions& options,
         const std::string& machine) {
        const Machine figures = machine_of(machine);
        return Planned{[=](int rank) { return plan_matmul(operands, topology, rank, options, figures); },
                       topology.ranks()};
      },
      nb::arg("operands"), nb::arg("topology"), nb::arg("options"), nb::arg("machine") = "", Unlocked());
}

}  // namespace partita::python
