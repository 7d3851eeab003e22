#include <nanobind/nanobind.h>

#include <partita/spectral.hpp>

#include "binding.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "norms.hpp"

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
              const Axes& axes, const Lengths& lengths) {
  const Multiplier called = [&](const WaveVector& wave) {
    const nb::gil_scoped_acquire lock;
    const std::vector<double> k(wave.k.begin(), wave.k.begin() + wave.dimensions);
    return scalar_of(multiplier(nb::tuple(nb::cast(k)))).as<std::complex<double>>();
  };
  const nb::gil_scoped_release unlocked;
  return spectral_apply(field, called, options_of_field(axes, lengths));
}

}  // namespace

void bind_spectral(nb::module_& module) {
  module.def("spectral_apply", &applied, nb::arg("field"), nb::arg("multiplier"), nb::arg("axes"),
             nb::arg("lengths"));
  module.def(
      "solve_poisson",
      [](const Array& right_side, const Axes& axes, const Lengths& lengths) {
        return solve_poisson(right_side, options_of_field(axes, lengths));
      },
      nb::arg("right_side"), nb::arg("axes"), nb::arg("lengths"), Unlocked());
  module.def(
      "gradient",
      [](const Array& field, const Axes& axes, const Lengths& lengths) {
        return gradient(field, options_of_field(axes, lengths));
      },
      nb::arg("field"), nb::arg("axes"), nb::arg("lengths"), Unlocked());
  module.def(
      "convolve",
      [](const Array& a, const Array& b, const Axes& axes) {
        return convolve(a, b, options_of_field(axes, {}));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("axes"), Unlocked());
  module.def(
      "resize_spectrum",
      [](const Array& spectrum, const Shape& from, const Shape& to, int halved_axis,
         const std::string& norm) {
        ResizeOptions options;
        options.halved_axis = halved_axis;
        options.norm = named("norm", norm, norms);
        return resize_spectrum(spectrum, from, to, options);
      },
      nb::arg("spectrum"), nb::arg("from_shape"), nb::arg("to_shape"), nb::arg("halved_axis"),
      nb::arg("norm"), Unlocked());
}

}  // namespace partita::python
