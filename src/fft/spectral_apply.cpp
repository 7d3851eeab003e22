// Multipliers between a forward and an inverse transform. The spectrum never leaves the distribution in which
// the forward transform leaves it: only its wavenumbers have to be known there.
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <partita/redistribute.hpp>
#include <partita/spectral.hpp>

#include "array/array_state.hpp"
#include "array/overlap.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"
#include "execute/scratch.hpp"
#include "fft/problem.hpp"
#include "fft/runner.hpp"
#include "fft/spectral.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

bool is_field(Dtype dtype) {
  return is_complex(dtype) || dtype == Dtype::f32 || dtype == Dtype::f64;
}

/// The options of the two transforms of a field.
struct Pair {
  FftOptions forward, inverse;
  int halved_axis = -1;
};

/// Throws, the same on every rank, for fields that cannot be transformed there and back.
Pair options_of(const Array& field, const SpectralOptions& options, std::string_view operation) {
  check(field.valid(), "{}: the field is missing", operation);
  Pair pair;
  runtime::collectively(*field.context_state(), std::string(operation), [&]() -> std::vector<Fact> {
    check(is_field(field.dtype()), "{}: the field is {}; f32, f64, c64 and c128 have a spectrum", operation,
          name(field.dtype()));
    const Layout& layout = field.layout();
    check(layout.dimensions() > 0, "{}: a scalar has no axis to transform", operation);
    check<UnsupportedError>(layout.members().empty() && layout.whole_shape() == layout.shape(),
                            "{}: a field that is laid out as a part of another, {}", operation,
                            layout.to_string());
    pair.forward.axes = spectral::all_or(options.axes, layout.dimensions());
    pair.forward.output = Output::cheapest;
    pair.forward.measure = options.measure;
    check(options.lengths.empty() || options.lengths.size() == pair.forward.axes.size(),
          "{}: {} periods for {} axes", operation, options.lengths.size(), pair.forward.axes.size());
    for (const double length : options.lengths) {
      check(length > 0, "{}: a period of {} units", operation, length);
    }
    std::vector<Fact> facts{{"axes", fmt::format("{}", fmt::join(pair.forward.axes, ","))},
                            {"periods", fmt::format("{}", fmt::join(options.lengths, ","))}};
    pair.inverse = pair.forward;
    if (!is_complex(field.dtype())) pair.forward.kind = FftKind::r2c;
    pair.inverse.output = Output::given;
    pair.inverse.residency = options.residency;
    pair.inverse.overwrite_input = true;  // nobody else has the spectrum
    pair.inverse.distribution = layout.distribution();
    if (!is_complex(field.dtype())) {
      pair.halved_axis = pair.forward.axes.back();
      pair.inverse.last_length = layout.shape()[pair.halved_axis];
    }
    return facts;
  });
  return pair;
}

using kernels::Symbol;
using spectral::Caller;

bool lies_on_device(const Array& array) {
  return array.local().space == MemorySpace::device;
}

Stream stream_of(const Caller& caller) {
  return caller.stream.value_or(Stream{});
}

/// Memory of a spectrum on a device, which the context keeps as it keeps plans: a new one each time would be
/// agreed on, and the host would wait until streams have done with the last one's.
struct KeptSpectrum {
  Operand operand;
  execution::Scratch memory;

  KeptSpectrum(ContextState& context, const Operand& like)
      : operand(like), memory(context, buffer_of(like), MemorySpace::device) {}

  static Buffer buffer_of(const Operand& like) {
    const std::int64_t bytes = like.layout.largest_local_size() * size_of(like.dtype);
    return {"spectrum", BufferKind::shared, {}, std::max<std::int64_t>(bytes, 1)};
  }
};

/// Collective, when it is made. What one call leaves in it the next one of that name overwrites, in stream
/// order.
Array kept_spectrum(const Array& field, const Pair& pair, std::string_view name) {
  const std::shared_ptr<ContextState>& context = field.context_state();
  const Operand from = field.operand();
  const std::string key =
      fmt::format("{} | {} | {}", name, from.to_string(), fourier::to_string(pair.forward));
  const auto kept = context->plans.find_or_make<KeptSpectrum>(key, [&] {
    std::optional<Operand> operand;
    runtime::collectively(*context, name, [&]() -> std::vector<Fact> {
      operand = fourier::into_new(*context, from, pair.forward).output;
      return {{"input", from.to_string()}};
    });
    return std::make_shared<KeptSpectrum>(*context, *operand);
  });
  const Operand& operand = kept->operand;
  const int rank = context->rank();
  void* const address = kept->memory.on_rank(rank);
  const View local{address,
                   operand.dtype,
                   operand.layout.local_shape(rank),
                   operand.local_strides(rank),
                   operand.space,
                   context->device_index(operand.space)};
  const std::int64_t offset = context->heap_in(operand.space).offset_of(address);
  return Array(std::make_shared<Array::State>(Array::State{context, operand, local, kept, offset}));
}

/// What lies on a device goes into the stream, one step behind the other, and its spectrum into memory of
/// that name; `finish` waits.
Array forward(const Array& field, const Pair& pair, const Caller& caller,
              std::string_view name = "spectrum") {
  const bool real = pair.halved_axis >= 0;
  if (!lies_on_device(field))
    return real ? rfft(field, pair.forward, caller.where) : fft(field, pair.forward, caller.where);
  Array spectrum = kept_spectrum(field, pair, name);
  FftOptions options = pair.forward;
  options.output = Output::as_input;  // it lies where it does
  real ? rfft_into(field, spectrum, options, stream_of(caller))
       : fft_into(field, spectrum, options, stream_of(caller));
  return spectrum;
}

Array inverse(const Array& spectrum, const Pair& pair, const Caller& caller) {
  const bool real = pair.halved_axis >= 0;
  const auto& [where, stream] = caller;
  if (!lies_on_device(spectrum))
    return real ? irfft(spectrum, pair.inverse, where) : ifft(spectrum, pair.inverse, where);
  return real ? irfft(spectrum, pair.inverse, stream_of(caller), where)
              : ifft(spectrum, pair.inverse, stream_of(caller), where);
}

/// Where nobody else waits for the stream.
void finish(const Array& field, std::string_view operation, const Caller& caller) {
  if (!caller.stream) devices::finish_device(*field.context_state(), operation);
}

/// The field of a spectrum.
Array inverted(const Array& spectrum, const Pair& pair, std::string_view operation, const Caller& caller) {
  Array field = inverse(spectrum, pair, caller);
  finish(field, operation, caller);
  return field;
}

/// Throws, the same on every rank, for results that cannot take what the field's transforms give.
void check_result(const Array& field, const Array& result, std::string_view operation) {
  runtime::collectively(*field.context_state(), operation, [&] {
    check(result.valid(), "{}: the result is missing", operation);
    check(result.context_state() == field.context_state(),
          "{}: field and result belong to different contexts", operation);
    check(result.shape() == field.shape() && result.dtype() == field.dtype(),
          "{}: the field is {} of shape {}, but the result is {} of shape {}", operation, name(field.dtype()),
          to_string(field.shape()), name(result.dtype()), to_string(result.shape()));
    check(!result.layout().partial(), "{}: the result ({}) is partial: it gets whole values", operation,
          result.layout().to_string());
    check(result.state() == field.state() || !arrays::overlap(field.local(), result.local()),
          "{}: field and result share memory, but are not the same array", operation);
    arrays::check_written(operation, result);
  });
}

void inverse_into(const Array& spectrum, Array& result, const Pair& pair, const Caller& caller) {
  FftOptions options = pair.inverse;
  options.output = Output::as_input;
  options.distribution.reset();
  const bool real = pair.halved_axis >= 0;
  if (!lies_on_device(spectrum) || !lies_on_device(result))
    return real ? irfft_into(spectrum, result, options) : ifft_into(spectrum, result, options);
  real ? irfft_into(spectrum, result, options, stream_of(caller))
       : ifft_into(spectrum, result, options, stream_of(caller));
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

}  // namespace

void multiply_spectrum(Array& spectrum, const Shape& lengths, int halved_axis, const Multiplier& multiplier,
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

namespace {

/// The spectrum of the field, multiplied.
Array multiplied(const Array& field, const Multiplier& multiplier, const SpectralOptions& options,
                 const Pair& pair, const Caller& caller) {
  Array spectrum = forward(field, pair, caller);
  multiply_spectrum(spectrum, field.shape(), pair.halved_axis, multiplier, options);
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
                                                   {Residency::heap, pair.forward.order, MemorySpace::host});
  for (std::size_t i = 0; i < pair.forward.axes.size(); ++i) {
    spectral::multiply_by(Symbol::derivative, pair.forward.axes[i], spectrum, derivative,
                          {field.shape(), pair.halved_axis}, options, stream_of(caller));
    take(i, derivative);
  }
}

/// The product of the spectra of both.
Array convolved(const Array& a, const Array& b, const Pair& pair, const Caller& caller) {
  runtime::collectively(*a.context_state(), "convolve", [&] {
    check(b.valid() && a.shape() == b.shape() && a.dtype() == b.dtype(),
          "convolve: both must have the same shape and dtype");
  });
  Array spectrum = forward(a, pair, caller);
  RedistributeOptions beside;
  beside.space = a.local().space;
  const bool lies_beside = b.layout() == a.layout() && b.local().space == a.local().space;
  Array other =
      forward(lies_beside ? b : redistribute(b, a.layout(), beside), pair, caller, "other spectrum");
  // The two may lie in memory in different orders, for which other distributions can be the cheapest.
  if (!(other.layout() == spectrum.layout())) other = redistribute(other, spectrum.layout());
  spectral::join_local(*a.context_state(), kernels::Arithmetic::multiply, spectrum.local(), other.local(),
                       stream_of(caller));
  return spectrum;
}

}  // namespace

Array spectral_apply(const Array& field, const Multiplier& multiplier, const SpectralOptions& options,
                     SourcePlace where) {
  const Pair pair = options_of(field, options, "spectral_apply");
  const Caller caller{where};
  return inverted(multiplied(field, multiplier, options, pair, caller), pair, "spectral_apply", caller);
}

void spectral_apply_into(const Array& field, Array& result, const Multiplier& multiplier,
                         const SpectralOptions& options) {
  const Pair pair = options_of(field, options, "spectral_apply");
  check_result(field, result, "spectral_apply");
  inverse_into(multiplied(field, multiplier, options, pair, {}), result, pair, {});
  finish(field, "spectral_apply", {});
}

Array spectral::solve_poisson(const Array& right_side, const SpectralOptions& options, const Caller& caller) {
  const Pair pair = options_of(right_side, options, "solve_poisson");
  return inverted(poisson_spectrum(right_side, options, pair, caller), pair, "solve_poisson", caller);
}

void spectral::solve_poisson_into(const Array& right_side, Array& result, const SpectralOptions& options,
                                  const Caller& caller) {
  const Pair pair = options_of(right_side, options, "solve_poisson");
  check_result(right_side, result, "solve_poisson");
  inverse_into(poisson_spectrum(right_side, options, pair, caller), result, pair, caller);
  finish(right_side, "solve_poisson", caller);
}

std::vector<Array> spectral::gradient(const Array& field, const SpectralOptions& options,
                                      const Caller& caller) {
  const Pair pair = options_of(field, options, "gradient");
  std::vector<Array> result;
  for_each_derivative(field, options, pair, caller, [&](std::size_t /*i*/, const Array& spectrum) {
    result.push_back(inverse(spectrum, pair, caller));
  });
  finish(field, "gradient", caller);
  return result;
}

void spectral::gradient_into(const Array& field, std::span<Array> results, const SpectralOptions& options,
                             const Caller& caller) {
  const Pair pair = options_of(field, options, "gradient");
  runtime::collectively(*field.context_state(), "gradient", [&] {
    check(results.size() == pair.forward.axes.size(),
          "gradient: {} results for the derivatives along {} axes", results.size(), pair.forward.axes.size());
  });
  for (const Array& result : results) check_result(field, result, "gradient");
  for_each_derivative(field, options, pair, caller, [&](std::size_t i, const Array& spectrum) {
    inverse_into(spectrum, results[i], pair, caller);
  });
  finish(field, "gradient", caller);
}

Array spectral::convolve(const Array& a, const Array& b, const SpectralOptions& options,
                         const Caller& caller) {
  const Pair pair = options_of(a, options, "convolve");
  return inverted(convolved(a, b, pair, caller), pair, "convolve", caller);
}

void spectral::convolve_into(const Array& a, const Array& b, Array& result, const SpectralOptions& options,
                             const Caller& caller) {
  const Pair pair = options_of(a, options, "convolve");
  check_result(a, result, "convolve");
  inverse_into(convolved(a, b, pair, caller), result, pair, caller);
  finish(a, "convolve", caller);
}

Array solve_poisson(const Array& right_side, const SpectralOptions& options, SourcePlace where) {
  return spectral::solve_poisson(right_side, options, {where});
}

void solve_poisson_into(const Array& right_side, Array& result, const SpectralOptions& options) {
  spectral::solve_poisson_into(right_side, result, options, {});
}

std::vector<Array> gradient(const Array& field, const SpectralOptions& options, SourcePlace where) {
  return spectral::gradient(field, options, {where});
}

void gradient_into(const Array& field, std::span<Array> results, const SpectralOptions& options) {
  spectral::gradient_into(field, results, options, {});
}

Array convolve(const Array& a, const Array& b, const SpectralOptions& options, SourcePlace where) {
  return spectral::convolve(a, b, options, {where});
}

void convolve_into(const Array& a, const Array& b, Array& result, const SpectralOptions& options) {
  spectral::convolve_into(a, b, result, options, {});
}

}  // namespace partita
