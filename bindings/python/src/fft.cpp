#include <nanobind/nanobind.h>

#include <partita/fft.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "destruction.hpp"
#include "plans.hpp"

namespace partita::python {

namespace {

/// None is the even one; 0, which represents that in C++, is not a valid length.
std::int64_t length_of(std::optional<std::int64_t> last_length) {
  if (last_length && *last_length <= 0)
    throw ArgumentError("last_length is " + std::to_string(*last_length) +
                        ", but a line has at least one element");
  return last_length.value_or(0);
}

void bind_fft_options(nb::module_& module) {
  nb::class_<FftOptions>(module, "FftOptions")
      .def(
          "__init__",
          [](FftOptions* self, const std::string& kind, const std::vector<int>& axes, bool inverse,
             const std::string& norm, std::optional<bool> orthogonalize,
             std::optional<std::int64_t> last_length, const std::string& output,
             const std::optional<Distribution>& distribution, const std::string& order, bool heap,
             const std::string& method, const std::vector<int>& grid, const std::string& exchange,
             std::int64_t scratch_bytes, bool overwrite_input, bool measure, const std::string& wisdom_file) {
            FftOptions options;
            options.kind = parse<FftKind>(kind, "kind");
            options.axes = axes;
            options.inverse = inverse;
            options.norm = parse<Norm>(norm, "norm");
            options.orthogonalize = orthogonalize;
            options.last_length = length_of(last_length);
            options.output = parse<Output>(output, "output");
            options.distribution = distribution;
            options.order = named("order", order, orders);
            options.residency = residency_of(heap);
            options.method = parse<FftMethod>(method, "method");
            options.grid = grid;
            options.exchange = parse<FftExchange>(exchange, "exchange");
            options.scratch_bytes = scratch_bytes;
            options.overwrite_input = overwrite_input;
            options.measure = measure;
            options.wisdom_file = wisdom_file;
            new (self) FftOptions(std::move(options));
          },
          nb::kw_only(), nb::arg("kind") = "c2c", nb::arg("axes") = std::vector<int>{},
          nb::arg("inverse") = false, nb::arg("norm") = "backward", nb::arg("orthogonalize") = nb::none(),
          nb::arg("last_length") = nb::none(), nb::arg("output") = "as-input",
          nb::arg("distribution") = nb::none(), nb::arg("order") = "C", nb::arg("heap") = true,
          nb::arg("method") = "automatic", nb::arg("grid") = std::vector<int>{},
          nb::arg("exchange") = "automatic", nb::arg("scratch_bytes") = 0, nb::arg("overwrite_input") = false,
          nb::arg("measure") = false, nb::arg("wisdom_file") = "");
}

/// Which function the options name.
Array transformed(const Array& input, const FftOptions& options, SourcePlace where) {
  const auto kind = static_cast<int>(options.kind);
  if (options.kind == FftKind::c2c)
    return options.inverse ? ifft(input, options, where) : fft(input, options, where);
  if (options.kind == FftKind::r2c) return rfft(input, options, where);
  if (options.kind == FftKind::c2r) return irfft(input, options, where);
  const bool sine = options.kind >= FftKind::dst1;
  const int type = 1 + kind - static_cast<int>(sine ? FftKind::dst1 : FftKind::dct1);
  if (sine) return options.inverse ? idst(input, type, options, where) : dst(input, type, options, where);
  return options.inverse ? idct(input, type, options, where) : dct(input, type, options, where);
}

void transformed_into(const Array& input, Array& output, const FftOptions& options) {
  const auto kind = static_cast<int>(options.kind);
  if (options.kind == FftKind::c2c)
    return options.inverse ? ifft_into(input, output, options) : fft_into(input, output, options);
  if (options.kind == FftKind::r2c) return rfft_into(input, output, options);
  if (options.kind == FftKind::c2r) return irfft_into(input, output, options);
  const bool sine = options.kind >= FftKind::dst1;
  const int type = 1 + kind - static_cast<int>(sine ? FftKind::dst1 : FftKind::dct1);
  if (sine)
    return options.inverse ? idst_into(input, output, type, options) : dst_into(input, output, type, options);
  return options.inverse ? idct_into(input, output, type, options) : dct_into(input, output, type, options);
}

}  // namespace

void bind_fft(nb::module_& module) {
  bind_fft_options(module);
  module.def(
      "transform",
      [](const Array& input, const FftOptions& options, StreamHandle stream) {
        const SourcePlace where = caller();
        const nb::gil_scoped_release unlocked;
        return transformed(input, in_stream(options, stream), where);
      },
      nb::arg("input"), nb::arg("options"), nb::arg("stream") = nb::none());
  module.def(
      "transform_into",
      [](const Array& input, Array& output, const FftOptions& options, StreamHandle stream) {
        transformed_into(input, output, in_stream(options, stream));
      },
      nb::arg("input"), nb::arg("output"), nb::arg("options"), nb::arg("stream") = nb::none(), Unlocked());
  module.def(
      "crop_or_pad",
      [](const Array& array, const Shape& shape, StreamHandle stream) {
        const SourcePlace where = caller();
        const nb::gil_scoped_release unlocked;
        return crop_or_pad(array, shape, stream_of(stream), where);
      },
      nb::arg("array"), nb::arg("shape"), nb::arg("stream") = nb::none());
  module.def(
      "plan_fft",
      [](const Operand& input, const Operand& output, const Topology& topology, const FftOptions& options,
         const std::string& machine) {
        const Machine figures = machine_of(machine);
        return Planned{[=](int rank) { return plan_fft(input, output, topology, rank, options, figures); },
                       topology.ranks()};
      },
      nb::arg("input"), nb::arg("output"), nb::arg("topology"), nb::arg("options"), nb::arg("machine") = "",
      Unlocked());
  module.def(
      "fft_result",
      [](const Context& context, const Operand& input, const FftOptions& options) {
        return std::make_pair(result_layout(context, input, options),
                              result_dtype(input.dtype, options.kind));
      },
      nb::arg("context"), nb::arg("input"), nb::arg("options"), Unlocked());
  module.def(
      "fft_result",
      [](const Operand& input, const Topology& topology, const FftOptions& options,
         const std::string& machine) {
        return std::make_pair(result_layout(input, topology, options, machine_of(machine)),
                              result_dtype(input.dtype, options.kind));
      },
      nb::arg("input"), nb::arg("topology"), nb::arg("options"), nb::arg("machine") = "", Unlocked());
  nb::class_<FFT>(module, "FFT")
      .def(nb::init<const Context&, const Operand&, const FftOptions&>(), nb::arg("context"),
           nb::arg("input"), nb::arg("options"), Unlocked())
      .def(nb::init<const Context&, const Operand&, const Operand&, const FftOptions&, bool>(),
           nb::arg("context"), nb::arg("input"), nb::arg("output"), nb::arg("options"), nb::arg("in_place"),
           Unlocked())
      .def_prop_ro("output", &FFT::output, nb::rv_policy::copy)
      .def(
          "execute",
          [](FFT& self, const Array& input, Array& output, double scale, StreamHandle stream) {
            self.execute(input, output, scale, stream_of(stream));
          },
          nb::arg("input"), nb::arg("output"), nb::arg("scale") = 1.0, nb::arg("stream") = nb::none(),
          Unlocked())
      .def(
          "inverse",
          [](FFT& self, const Array& output, Array& input, double scale, StreamHandle stream) {
            self.inverse(output, input, scale, stream_of(stream));
          },
          nb::arg("output"), nb::arg("input"), nb::arg("scale") = 1.0, nb::arg("stream") = nb::none(),
          Unlocked())
      .def("autotune", &FFT::autotune, nb::arg("runs") = 3, Unlocked())
      .def_prop_ro("workspace_size", &FFT::workspace_size)
      .def("release", &FFT::release, Unlocked())
      .def_prop_ro("plan", &FFT::plan, nb::rv_policy::copy)
      .def(
          "explain",
          [](const FFT& self, bool steps, bool json) { return explained(self.plan(), steps, json); },
          nb::arg("steps") = false, nb::arg("json") = false);
}

}  // namespace partita::python
