// How executions are put into streams, whatever carries them out.
#pragma once

#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "device/run_ahead.hpp"

namespace partita::devices {

/// Puts one execution into `wanted` (none: the context's own stream): `work(stream, captured)` gives it to
/// the device. Blocks only while the host is too far ahead of its device, within the deadline.
/// UnsupportedError before anything has happened: see `require_apart_from_capture`. Whatever else is thrown
/// from here fails the context, since peers wait for this rank's part.
template <class Work>
void put_into_stream(DeviceRuntime& state, RunAhead& ahead, std::string_view operation,
                     const std::optional<Stream>& wanted, Work&& work) {
  require_apart_from_capture(state, operation, wanted);
  try {
    const Stream stream = begin_device_work(state, wanted);
    if (state.device->captures(stream)) {
      work(stream, true);
      return end_device_work(state, stream);
    }
    RunAhead::Execution execution(ahead, operation);
    work(stream, false);
    end_device_work(state, stream);
    execution.given(stream);
  } catch (...) {
    state.fail_with_current();
    throw;
  }
}

/// The same with the context's own measure of how far the host is ahead.
template <class Work>
void put_into_stream(DeviceRuntime& state, std::string_view operation, const std::optional<Stream>& wanted,
                     Work&& work) {
  put_into_stream(state, *RunAhead::of(state), operation, wanted, std::forward<Work>(work));
}

}  // namespace partita::devices
