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

/// Opens the device and creates the context's memory, flags and topology. If peers' memory cannot be mapped,
/// every rank counts as a separate node, which is logged. Collective.
void start_device(DeviceRuntime& state);

/// Creates the context's heap on its devices with the flags in it, and tests every pair. If peers cannot
/// access each other's memory, each rank is a separate node from then on. Collective, blocking.
void make_device_heap(DeviceRuntime& state, DeviceHeap wanted);

}  // namespace partita::devices
