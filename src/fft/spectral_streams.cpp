// The spectral helpers in streams: what the device computes by itself goes into them. Multipliers are the
// host's to ask, and modes that move to other sizes wait for each other: those come after the stream, and are
// done when they return.
#include <partita/spectral.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"
#include "fft/spectral.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

void follow_here(const Array& array, std::string_view operation, Stream stream) {
  check(array.valid(), "{}: the array is an empty Array", operation);
  arrays::require_stream_of_device(operation, array.local().space == MemorySpace::device, stream);
  devices::follow(*array.context_state(), operation, stream);
}

/// Collective: what is wrong with a stream of one rank is every rank's error.
void follow_together(const Array& array, std::string_view operation, Stream stream) {
  check(array.valid(), "{}: the array is an empty Array", operation);
  array.context_state()->require_usable(operation);
  runtime::collectively(*array.context_state(), operation, [&] { follow_here(array, operation, stream); });
}

}  // namespace

void multiply_spectrum(Array& spectrum, const Shape& lengths, int halved_axis, const Multiplier& multiplier,
                       const SpectralOptions& options, Stream stream) {
  follow_here(spectrum, "multiply_spectrum", stream);
  multiply_spectrum(spectrum, lengths, halved_axis, multiplier, options);
}

Array spectral_apply(const Array& field, const Multiplier& multiplier, const SpectralOptions& options,
                     Stream stream, SourcePlace where) {
  follow_together(field, "spectral_apply", stream);
  return spectral_apply(field, multiplier, options, where);
}

Array solve_poisson(const Array& right_side, const SpectralOptions& options, Stream stream,
                    SourcePlace where) {
  follow_together(right_side, "solve_poisson", stream);
  return spectral::solve_poisson(right_side, options, {where, stream});
}

std::vector<Array> gradient(const Array& field, const SpectralOptions& options, Stream stream,
                            SourcePlace where) {
  follow_together(field, "gradient", stream);
  return spectral::gradient(field, options, {where, stream});
}

Array convolve(const Array& a, const Array& b, const SpectralOptions& options, Stream stream,
               SourcePlace where) {
  follow_together(a, "convolve", stream);
  return spectral::convolve(a, b, options, {where, stream});
}

void spectral_apply_into(const Array& field, Array& result, const Multiplier& multiplier,
                         const SpectralOptions& options, Stream stream) {
  follow_together(field, "spectral_apply", stream);
  spectral_apply_into(field, result, multiplier, options);
}

void solve_poisson_into(const Array& right_side, Array& result, const SpectralOptions& options,
                        Stream stream) {
  follow_together(right_side, "solve_poisson", stream);
  spectral::solve_poisson_into(right_side, result, options, {SourcePlace::current(), stream});
}

void gradient_into(const Array& field, std::span<Array> results, const SpectralOptions& options,
                   Stream stream) {
  follow_together(field, "gradient", stream);
  spectral::gradient_into(field, results, options, {SourcePlace::current(), stream});
}

void convolve_into(const Array& a, const Array& b, Array& result, const SpectralOptions& options,
                   Stream stream) {
  follow_together(a, "convolve", stream);
  spectral::convolve_into(a, b, result, options, {SourcePlace::current(), stream});
}

Array resize_spectrum(const Array& spectrum, const Shape& from, const Shape& to, const ResizeOptions& options,
                      Stream stream, SourcePlace where) {
  follow_together(spectrum, "resize_spectrum", stream);
  return resize_spectrum(spectrum, from, to, options, where);
}

void resize_spectrum_into(const Array& spectrum, Array& result, const Shape& from, const Shape& to,
                          const ResizeOptions& options, Stream stream) {
  follow_together(spectrum, "resize_spectrum", stream);
  resize_spectrum_into(spectrum, result, from, to, options);
}

}  // namespace partita
