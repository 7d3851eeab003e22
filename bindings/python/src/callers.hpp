// Who in a Python program makes an array, and in which stream it is to be made.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <partita/source_place.hpp>
#include <partita/stream.hpp>

namespace partita::python {

/// The line outside of the package that has called into it, for reports of leaks. With the interpreter's
/// lock.
SourcePlace caller();

/// What Python gives for a stream: the number of a cudaStream_t, or None: nothing is said.
using StreamHandle = std::optional<std::uintptr_t>;

/// The `stream` of a call of C++.
inline std::optional<Stream> stream_of(StreamHandle handle) {
  if (!handle) return std::nullopt;
  return Stream(reinterpret_cast<void*>(*handle));  // NOLINT(performance-no-int-to-ptr)
}

/// The options of one call with its stream.
template <class Options>
Options in_stream(Options options, StreamHandle stream) {
  options.stream = stream_of(stream);
  return options;
}

/// With the interpreter's lock free.
template <class Call>
auto unlocked(const Call& call) {
  const nanobind::gil_scoped_release released;
  return call();
}

}  // namespace partita::python
