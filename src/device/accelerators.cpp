#include <atomic>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "device/accelerator.hpp"
#include "device/ordinary_reads.hpp"
#include "runtime/groups/host_identity.hpp"
#include "runtime/runtime.hpp"

namespace partita {
namespace devices {
namespace {

std::atomic<Accelerators*> replacement{nullptr};

}  // namespace

std::unique_ptr<memory::NodeMemory> PhysicalDevice::share_memory_of_library(runtime::Runtime&,
                                                                            const Topology&) {
  throw UnsupportedError(fmt::format("{} does not support NVSHMEM", name()));
}

OrdinaryReads* OrdinaryReads::of(PhysicalDevice& device) {
  return dynamic_cast<OrdinaryReads*>(&device);
}

std::uint64_t device_identity(const runtime::Runtime& state, const PhysicalDevice& device) {
  return hash_of(runtime::host_of(state.group->place()) + " " + device.identity());
}

// One thing after the other.
void DeviceWork::copy_all(std::span<const PlacedCopy> copies, Stream stream) {
  for (const PlacedCopy& one : copies) copy(*one.nest, one.from, one.to, stream, one.scope);
}

void DeviceWork::exchange(const PeerExchange& what, Stream stream) {
  copy_all(what.packs, stream);
  flags(what.early_signals, stream);
  flags(what.early_waits, stream);
  copy_all(what.copies, stream);
  flags(what.late_signals, stream);
  flags(what.late_waits, stream);
}

Accelerators& Accelerators::of_process() {
  Accelerators* const others = replacement.load();
  return others != nullptr ? *others : built_in();
}

void Accelerators::replace(Accelerators* others) noexcept {
  replacement.store(others);
}

}  // namespace devices

DeviceReport report_devices() {
  return devices::Accelerators::of_process().report();
}

}  // namespace partita
