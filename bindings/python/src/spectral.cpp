#include <nanobind/nanobind.h>

#include <partita/spectral.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"

namespace partita::python {

namespace {

SpectralOptions options_of_field(const std::vector<int>& axes, const std::vector<double>& lengths) {
  SpectralOptions options;
  options.axes = axes;
  options.lengths = lengths;
  return options;
}

using Axes = std::vector<int>;
using Lengths = std::vector<double>;

/// A multiplier that is written in Python, called with the wave vector as a tuple.
Array applied(const Array& field,
              const nb::typed<nb::callable, std::complex<double>(nb::typed<nb::tuple, double, nb::ellipsis>)>&
                  multiplier,
              const Axes& axes, const Lengths& lengths, StreamHandle stream) {
  const Multiplier called = [&](const WaveVector& wave) {
    const nb::gil_scoped_acquire lock;
    const std::vector<double> k(wave.k.begin(), wave.k.begin() + wave.dimensions);
    return scalar_of(multiplier(nb::tuple(nb::cast(k)))).as<std::complex<double>>();
  };
  const SpectralOptions options = in_stream(options_of_field(axes, lengths), stream);
  const SourcePlace where = caller();
  return unlocked([&] { return spectral_apply(field, called, options, where); });
}

Array poisson_solved(const Array& right_side, const Axes& axes, const Lengths& lengths, StreamHandle stream) {
  const SpectralOptions options = in_stream(options_of_field(axes, lengths), stream);
  const SourcePlace where = caller();
  return unlocked([&] { return solve_poisson(right_side, options, where); });
}

std::vector<Array> gradient_of(const Array& field, const Axes& axes, const Lengths& lengths,
                               StreamHandle stream) {
  const SpectralOptions options = in_stream(options_of_field(axes, lengths), stream);
  const SourcePlace where = caller();
  return unlocked([&] { return gradient(field, options, where); });
}

Array convolved(const Array& a, const Array& b, const Axes& axes, StreamHandle stream) {
  const SpectralOptions options = in_stream(options_of_field(axes, {}), stream);
  const SourcePlace where = caller();
  return unlocked([&] { return convolve(a, b, options, where); });
}

Array resized(const Array& spectrum, const Shape& from, const Shape& to, int halved_axis,
              const std::string& norm, StreamHandle stream) {
  ResizeOptions options;
  options.stream = stream_of(stream);
  options.halved_axis = halved_axis;
  options.norm = parse<Norm>(norm, "norm");
  const SourcePlace where = caller();
  return unlocked([&] { return resize_spectrum(spectrum, from, to, options, where); });
}

}  // namespace

void bind_spectral(nb::module_& module) {
  const auto axes = nb::arg("axes"), lengths = nb::arg("lengths");
  const auto stream = nb::arg("stream") = nb::none();
  module.def("spectral_apply", &applied, nb::arg("field"), nb::arg("multiplier"), axes, lengths, stream);
  module.def("solve_poisson", &poisson_solved, nb::arg("right_side"), axes, lengths, stream);
  module.def("gradient", &gradient_of, nb::arg("field"), axes, lengths, stream);
  module.def("convolve", &convolved, nb::arg("a"), nb::arg("b"), axes, stream);
  module.def("resize_spectrum", &resized, nb::arg("spectrum"), nb::arg("from_shape"), nb::arg("to_shape"),
             nb::arg("halved_axis"), nb::arg("norm"), stream);
}

}  // namespace partita::python
