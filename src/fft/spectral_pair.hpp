// The two transforms between which spectral helpers multiply: there and back again.
#pragma once

#include <optional>
#include <partita/fft.hpp>
#include <partita/spectral.hpp>
#include <string_view>

#include "fft/spectral.hpp"

namespace partita::spectral {

/// The options of the two transforms of a field.
struct Pair {
  FftOptions forward, inverse;
  int halved_axis = -1;
};

/// Throws, the same on every rank, for fields that cannot be transformed there and back. Collective.
Pair options_of(const Array& field, const SpectralOptions& options, std::string_view operation,
                const Caller& caller);

/// The device runs what comes after all work that was enqueued on the stream before. Local. Throws
/// ArgumentError (no array), UnsupportedError (host memory, a stream that is being captured).
void follow(const Array& array, std::string_view operation, const std::optional<Stream>& stream);
/// The same; what is wrong with a stream of one rank is every rank's error. Collective where the call is
/// stream-ordered.
void follow_together(const Array& array, std::string_view operation, const std::optional<Stream>& stream);

bool lies_on_device(const Array& array);
/// The stream for work on a device.
Stream stream_of(const Caller& caller);

/// A spectrum as the forward transform leaves it, in device memory that the context keeps under that name as
/// it keeps plans: what one call leaves there the next one overwrites, in stream order. (A new one each time
/// would be agreed on, and the host would wait until streams have done with the last one's.) Collective, when
/// it is made.
Array kept_spectrum(const Array& field, const Pair& pair, std::string_view name);

/// On a device the steps are enqueued on the caller's stream, and the spectrum is in memory of that name;
/// `finish` waits.
Array forward(const Array& field, const Pair& pair, const Caller& caller, std::string_view name = "spectrum");
Array inverse(const Array& spectrum, const Pair& pair, const Caller& caller);
void inverse_into(const Array& spectrum, Array& result, const Pair& pair, const Caller& caller);

/// Waits for the device, unless the caller has a stream.
void finish(const Array& field, std::string_view operation, const Caller& caller);

}  // namespace partita::spectral
