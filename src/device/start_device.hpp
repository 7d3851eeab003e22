// Which device a rank gets, and its start.
#pragma once

#include <partita/context.hpp>
#include <span>
#include <string>

#include "base/serialize.hpp"

namespace partita::runtime {
struct Runtime;
}

namespace partita::devices {

struct DeviceRuntime;

/// What a rank can offer.
struct DeviceCapabilities {
  std::string host;
  int count = 0;  ///< usable devices of the process
  std::string why_none;
};
auto members_of(is_a<DeviceCapabilities> auto& offer) {
  return std::tie(offer.host, offer.count, offer.why_none);
}

/// The device of rank `me`: `any` is a GPU where every rank has one, else the CPU; without an index the
/// rank's place on its host, modulo the devices that the process sees. Throws UnsupportedError, ArgumentError
/// (a negative index). Pure.
Device choose_device(const Device& wanted, std::span<const DeviceCapabilities> offers, int me);

/// Settles `state.options.device` from what was asked for. Collective; all ranks ask for the same kind.
void settle_device(runtime::Runtime& state);

/// Opens the device and gives the context its memory, flags and topology. Where peers' memory cannot be
/// reached, every rank counts as a node of its own, which is logged. Collective.
void start_device(DeviceRuntime& state);

/// The context's heap on its devices, and the flags in it, every pair of them probed. Collective, blocking.
/// Where peers do not reach each other in any memory, each rank is a node of its own from here on.
void make_device_heap(DeviceRuntime& state, DeviceHeap wanted);

}  // namespace partita::devices
