// How executions are put into streams, whatever carries them out.
#pragma once

#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "device/run_ahead.hpp"

namespace partita::devices {

/// Puts one execution into `wanted` (none: the context's own stream): `work(stream, captured)` gives it to
/// the device and says how many starts that were, about. Blocks only while the host is too far ahead of its
/// device. Whatever is thrown from here fails the context, since peers wait for this rank's part.
template <class Work>
void put_into_stream(DeviceRuntime& state, RunAhead& ahead, std::string_view operation, Stream wanted,
                     Work&& work) {
  try {
    const Stream stream = begin_device_work(state, wanted);
    const bool captured = state.device->captures(stream);
    if (!captured) ahead.wait_for_room(operation);
    const std::int64_t starts = work(stream, captured);
    end_device_work(state, stream);
    if (captured) return;
    ahead.given(stream, starts);
    state.watchdog->note(operation);
  } catch (...) {
    state.fail_with_current();
    throw;
  }
}

}  // namespace partita::devices
