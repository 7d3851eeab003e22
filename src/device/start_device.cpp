#include "device/start_device.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "device/device_runtime.hpp"
#include "device/ordinary_reads.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/groups/host_identity.hpp"

namespace partita::devices {
namespace {

constexpr std::string_view starting_device = "start the device";

int ranks_on(const PhysicalDevice& device, runtime::Runtime& state) {
  const std::uint64_t mine = device_identity(state, device);
  return static_cast<int>(std::ranges::count(runtime::exchange_values(state, starting_device, mine), mine));
}

/// Whether messages of device memory go to the transport as they are, or through pinned host memory.
bool messages_go_direct(DeviceMessages wanted, const PhysicalDevice& device,
                        const runtime::ProcessGroup& group) {
  if (wanted == DeviceMessages::staged) return false;
  if (wanted == DeviceMessages::automatic) return group.takes_device_memory();
  check<UnsupportedError>(
      group.takes_device_memory() || device.is_host_memory(),
      "PARTITA_DEVICE_MESSAGES is \"direct\" (or the option device_messages), but {}; if it is "
      "unset, messages use pinned host memory",
      group.in_process() ? "messages between threads cannot use device memory"
                         : "this MPI does not report support for device memory (it is not "
                           "CUDA-aware, or its support is switched off: see partita doctor)");
  return true;
}

/// Ranks that are threads of one process read each other's ordinary memory, if all of their devices can.
void connect_ordinary_memory(DeviceRuntime& state) {
  const Topology& topology = state.device_topology;
  if (state.options.cross_memory == CrossMemory::off || !state.group->in_process()) return;
  if (topology.node_count() == topology.ranks()) return;
  PhysicalDevice& own = state.device->physical();
  const std::vector<int> devices = runtime::exchange_values(state, starting_device, own.index());
  int can = 1;
  runtime::collectively(state, starting_device, [&] {
    OrdinaryReads* const reads = OrdinaryReads::of(own);
    for (const int rank : topology.node_ranks(topology.node(state.rank())))
      if (reads == nullptr || !reads->reads_memory_of(devices[static_cast<std::size_t>(rank)])) can = 0;
  });
  if (std::ranges::min(runtime::exchange_values(state, starting_device, can)) == 1)
    state.device_topology = topology.with_cross_memory();
}

}  // namespace

Device choose_device(const Device& wanted, std::span<const DeviceCapabilities> offers, int me) {
  if (wanted.kind == Device::Kind::cpu) return Device::cpu();
  const DeviceCapabilities& mine = offers[static_cast<std::size_t>(me)];
  if (wanted.kind == Device::Kind::any) {
    const bool everywhere =
        std::ranges::all_of(offers, [](const DeviceCapabilities& o) { return o.count > 0; });
    if (!everywhere) return Device::cpu();
  }
  check<UnsupportedError>(mine.count > 0,
                          "device cuda: {}; use Device::cpu() or Device::any() (partita doctor says more)",
                          mine.why_none);
  check(wanted.index >= -1, "device cuda: the index is {}; it must be -1 (chosen) or a device's",
        wanted.index);
  check<UnsupportedError>(wanted.index < mine.count,
                          "device cuda: index {} was requested, but there are {} devices", wanted.index,
                          mine.count);
  if (wanted.index >= 0) return Device::cuda(wanted.index);
  const auto before = offers.first(static_cast<std::size_t>(me));
  const auto place =
      std::ranges::count_if(before, [&](const DeviceCapabilities& o) { return o.host == mine.host; });
  return Device::cuda(static_cast<int>(place) % mine.count);
}

void settle_device(runtime::Runtime& state) {
  if (state.options.device.kind == Device::Kind::cpu) return;
  Accelerators& devices = Accelerators::of_process();
  const DeviceCapabilities mine{runtime::host_of(state.group->place()), devices.count(), devices.why_none()};
  const std::vector<DeviceCapabilities> offers = runtime::exchange_values(state, starting_device, mine);
  runtime::collectively(state, starting_device, [&] {
    state.options.device = choose_device(state.options.device, offers, state.rank());
  });
}

void start_device(DeviceRuntime& state) {
  if (state.options.device.kind != Device::Kind::cuda) return;
  std::shared_ptr<PhysicalDevice> device;
  runtime::collectively(state, starting_device, [&] {
    device = Accelerators::of_process().device(state.options.device.index);
    state.device_messages_direct = messages_go_direct(state.options.device_messages, *device, *state.group);
  });
  const int sharers = ranks_on(*device, state);
  runtime::collectively(state, starting_device, [&] {
    device->use();
    state.device = device->open(state.options, sharers);
    state.device_sharers = sharers;
    state.device_mark = state.device->event();
  });
  make_device_heap(state, state.options.device_heap);
  connect_ordinary_memory(state);
  state.log->debug(
      fmt::format("{}; messages {}", device->name(),
                  state.device_messages_direct ? "of its memory" : "through pinned host memory"));
}

}  // namespace partita::devices
