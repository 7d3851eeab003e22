// Multipliers between a forward and an inverse transform. The spectrum never leaves the distribution in which
// the forward transform leaves it: only its wavenumbers have to be known there.
#include <functional>
#include <partita/redistribute.hpp>
#include <partita/spectral.hpp>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "fft/spectral.hpp"
#include "fft/spectral_pair.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

using kernels::Symbol;
using spectral::Caller;
using spectral::finish;
using spectral::follow_together;
using spectral::lies_on_device;
using spectral::options_of;
using spectral::Pair;

/// The field of a spectrum.
Array inverted(const Array& spectrum, const Pair& pair, std::string_view operation, const Caller& caller) {
  Array field = inverse(spectrum, pair, caller);
  finish(field, operation, caller);
  return field;
}

/// Throws for a result that cannot take what the field's transforms give.
void check_result(const Array& field, const Array& result, std::string_view operation) {
  check(result.valid(), "{}: the result is an empty Array", operation);
  arrays::check_same_context(operation, field, "the field", result, "the result");
  check(result.shape() == field.shape() && result.dtype() == field.dtype(),
        "{}: the field is {} of shape {}, but the result is {} of shape {}", operation, name(field.dtype()),
        to_string(field.shape()), name(result.dtype()), to_string(result.shape()));
  check(!result.layout().partial(), "{}: the result ({}) is partial: it must hold whole values", operation,
        result.layout().to_string());
  check(result.state() == field.state() || !arrays::overlap(field, result),
        "{}: field and result overlap in memory, but are not the same array", operation);
  arrays::check_written(operation, result);
}

/// The same on every rank. Collective.
void check_result_together(const Array& field, const Array& result, std::string_view operation) {
  runtime::collectively(*field.context_state(), operation, [&] { check_result(field, result, operation); });
}

void check_results_apart(std::span<const Array> results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      check(!arrays::overlap(results[j], results[i]), "gradient: results {} and {} overlap in memory", j, i);
    }
  }
}

template <class Number>
void multiply_local(const View& local, const std::vector<spectral::AxisModes>& modes,
                    const Multiplier& multiplier) {
  WaveVector wave;
  wave.dimensions = local.extents.size();
  spectral::for_each_local<Number>(local, [&](const Index& at, Number& value) {
    for (std::size_t d = 0; d < modes.size(); ++d) {
      if (modes[d].k.empty()) continue;
      const auto i = static_cast<std::size_t>(at[static_cast<int>(d)]);
      wave.k[d] = modes[d].k[i];
      wave.at_nyquist[d] = modes[d].at_nyquist[i];
    }
    value *= static_cast<Number>(multiplier(wave));
  });
}

void multiply_modes(Array& spectrum, const Shape& lengths, int halved_axis, const Multiplier& multiplier,
                    const SpectralOptions& options) {
  check(spectrum.valid() && is_complex(spectrum.dtype()), "a spectrum is of complex numbers");
  check(lengths.size() == spectrum.shape().size(), "{} lengths for a spectrum of {} dimensions",
        lengths.size(), spectrum.shape().size());
  arrays::check_written("multiply_spectrum", spectrum);
  const std::vector<spectral::AxisModes> modes =
      spectral::local_modes(spectrum, {lengths, halved_axis}, options);
  spectral::scale_local(*spectrum.context_state(), spectrum.local(), [&](const View& local) {
    spectral::with_number(local.dtype, [&]<class Number>(Number /*zero*/) {
      multiply_local<Number>(local, modes, multiplier);
    });
  });
}

}  // namespace

void multiply_spectrum(Array& spectrum, const Shape& lengths, int halved_axis, const Multiplier& multiplier,
                       const SpectralOptions& options) {
  const runtime::PublicCall call("multiply_spectrum");
  spectral::follow(spectrum, "multiply_spectrum", options.stream);
  multiply_modes(spectrum, lengths, halved_axis, multiplier, options);
}

namespace {

/// The spectrum of the field, multiplied.
Array multiplied(const Array& field, const Multiplier& multiplier, const SpectralOptions& options,
                 const Pair& pair, const Caller& caller) {
  Array spectrum = forward(field, pair, caller);
  // The multiplier is the caller's and may throw, on one rank too; so may what it takes of memory.
  runtime::collectively(*field.context_state(), "spectral_apply", [&] {
    multiply_modes(spectrum, field.shape(), pair.halved_axis, multiplier, options);
  });
  return spectrum;
}

/// -|k|^2 u = f, mode by mode.
Array poisson_spectrum(const Array& right_side, const SpectralOptions& options, const Pair& pair,
                       const Caller& caller) {
  Array spectrum = forward(right_side, pair, caller);
  spectral::multiply_by(Symbol::inverse_laplacian, {}, spectrum, spectrum,
                        {right_side.shape(), pair.halved_axis}, options, stream_of(caller));
  return spectrum;
}

/// Hands `take(i, spectrum)` the spectrum of the derivative along the i-th axis.
void for_each_derivative(const Array& field, const SpectralOptions& options, const Pair& pair,
                         const Caller& caller, const std::function<void(std::size_t, const Array&)>& take) {
  const Array spectrum = forward(field, pair, caller);
  Array derivative = lies_on_device(field) ? kept_spectrum(field, pair, "spectrum of a derivative")
                                           : empty(field.context(), spectrum.layout(), spectrum.dtype(),
                                                   {.order = pair.forward.order, .space = MemorySpace::host});
  for (std::size_t i = 0; i < pair.forward.axes.size(); ++i) {
    spectral::multiply_by(Symbol::derivative, pair.forward.axes[i], spectrum, derivative,
                          {field.shape(), pair.halved_axis}, options, stream_of(caller));
    take(i, derivative);
  }
}

/// The product of the spectra of both.
Array convolved(const Array& a, const Array& b, const Pair& pair, const Caller& caller) {
  runtime::collectively(*a.context_state(), "convolve", [&] {
    check(b.valid(), "convolve: the second operand is an empty Array");
    arrays::check_same_context("convolve", a, "one array", b, "the other one");
    check(a.shape() == b.shape() && a.dtype() == b.dtype(),
          "convolve: both must have the same shape and dtype");
  });
  Array spectrum = forward(a, pair, caller);
  RedistributeOptions beside;
  beside.space = a.local().space;
  const bool lies_beside = b.layout() == a.layout() && b.local().space == a.local().space;
  Array other =
      forward(lies_beside ? b : redistribute(b, a.layout(), beside), pair, caller, "other spectrum");
  // The two may have different orders in memory, for which other distributions can be the cheapest.
  if (!(other.layout() == spectrum.layout())) other = redistribute(other, spectrum.layout());
  spectral::join_local(*a.context_state(), kernels::Arithmetic::multiply, spectrum.local(), other.local(),
                       stream_of(caller));
  return spectrum;
}

}  // namespace

// The host is asked for multipliers: it waits.
Array spectral_apply(const Array& field, const Multiplier& multiplier, const SpectralOptions& options,
                     SourcePlace where) {
  const runtime::PublicCall call("spectral_apply");
  follow_together(field, "spectral_apply", options.stream);
  const Caller caller{where};
  const Pair pair = options_of(field, options, "spectral_apply", caller);
  return inverted(multiplied(field, multiplier, options, pair, caller), pair, "spectral_apply", caller);
}

void spectral_apply_into(const Array& field, Array& result, const Multiplier& multiplier,
                         const SpectralOptions& options) {
  const runtime::PublicCall call("spectral_apply");
  follow_together(field, "spectral_apply", options.stream);
  const Pair pair = options_of(field, options, "spectral_apply", {});
  check_result_together(field, result, "spectral_apply");
  inverse_into(multiplied(field, multiplier, options, pair, {}), result, pair, {});
  finish(field, "spectral_apply", {});
}

Array solve_poisson(const Array& right_side, const SpectralOptions& options, SourcePlace where) {
  const runtime::PublicCall call("solve_poisson");
  follow_together(right_side, "solve_poisson", options.stream);
  const Caller caller{where, options.stream};
  const Pair pair = options_of(right_side, options, "solve_poisson", caller);
  return inverted(poisson_spectrum(right_side, options, pair, caller), pair, "solve_poisson", caller);
}

void solve_poisson_into(const Array& right_side, Array& result, const SpectralOptions& options) {
  const runtime::PublicCall call("solve_poisson");
  follow_together(right_side, "solve_poisson", options.stream);
  const Caller caller{SourcePlace::current(), options.stream};
  const Pair pair = options_of(right_side, options, "solve_poisson", caller);
  check_result_together(right_side, result, "solve_poisson");
  inverse_into(poisson_spectrum(right_side, options, pair, caller), result, pair, caller);
  finish(right_side, "solve_poisson", caller);
}

std::vector<Array> gradient(const Array& field, const SpectralOptions& options, SourcePlace where) {
  const runtime::PublicCall call("gradient");
  follow_together(field, "gradient", options.stream);
  const Caller caller{where, options.stream};
  const Pair pair = options_of(field, options, "gradient", caller);
  std::vector<Array> result;
  for_each_derivative(field, options, pair, caller, [&](std::size_t /*i*/, const Array& spectrum) {
    result.push_back(inverse(spectrum, pair, caller));
  });
  finish(field, "gradient", caller);
  return result;
}

void gradient_into(const Array& field, std::span<Array> results, const SpectralOptions& options) {
  const runtime::PublicCall call("gradient");
  follow_together(field, "gradient", options.stream);
  const Caller caller{SourcePlace::current(), options.stream};
  const Pair pair = options_of(field, options, "gradient", caller);
  runtime::collectively(*field.context_state(), "gradient", [&] {
    check(results.size() == pair.forward.axes.size(),
          "gradient: {} results for the derivatives along {} axes", results.size(), pair.forward.axes.size());
    for (const Array& result : results) check_result(field, result, "gradient");
    check_results_apart(results);
  });
  for_each_derivative(field, options, pair, caller, [&](std::size_t i, const Array& spectrum) {
    inverse_into(spectrum, results[i], pair, caller);
  });
  finish(field, "gradient", caller);
}

Array convolve(const Array& a, const Array& b, const SpectralOptions& options, SourcePlace where) {
  const runtime::PublicCall call("convolve");
  follow_together(a, "convolve", options.stream);
  const Caller caller{where, options.stream};
  const Pair pair = options_of(a, options, "convolve", caller);
  return inverted(convolved(a, b, pair, caller), pair, "convolve", caller);
}

void convolve_into(const Array& a, const Array& b, Array& result, const SpectralOptions& options) {
  const runtime::PublicCall call("convolve");
  follow_together(a, "convolve", options.stream);
  const Caller caller{SourcePlace::current(), options.stream};
  const Pair pair = options_of(a, options, "convolve", caller);
  check_result_together(a, result, "convolve");
  inverse_into(convolved(a, b, pair, caller), result, pair, caller);
  finish(a, "convolve", caller);
}

}  // namespace partita
