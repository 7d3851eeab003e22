// The memory of the symmetric heap of devices.

#include "base/check.hpp"
#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "device/start_device.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::devices {
namespace {

constexpr std::string_view starting_heap = "start the device";

using Backing = std::unique_ptr<memory::NodeMemory> (PhysicalDevice::*)(runtime::Runtime&, const Topology&);

/// Why peers do not reach each other in it, as the first rank says it; empty: they do.
std::string share(DeviceRuntime& state, const Topology& topology, Backing backing) {
  state.flags.reset();
  state.device_heap.reset();
  state.device_memory.reset();
  state.device_topology = topology;
  state.device_memory = (state.device->physical().*backing)(state, topology);
  state.device_heap = std::make_unique<memory::SymmetricHeap>(
      state, *state.device_memory,
      [&state](std::string_view what, bool dropped) {
        const bool may_release = finish_for_release(state, what, dropped);
        state.device->physical().collect(state.device_sharers);
        return may_release;
      },
      [&state] { return state.drop_plans(); }, "device memory");
  state.flags = std::make_unique<FlagBoard>(state);
  for (const std::string& text : runtime::exchange(state, starting_heap, state.flags->unreachable())) {
    if (!text.empty()) return text;
  }
  return "";
}

/// The same in a library's memory, where that such memory cannot be had is a reason too.
std::string share_by_library(DeviceRuntime& state) {
  try {
    return share(state, state.topology(), &PhysicalDevice::share_memory_of_library);
  } catch (const Error& error) {
    if (state.failed()) throw;
    return error.what();
  }
}

void warn(const DeviceRuntime& state, const std::string& why) {
  if (state.rank() != 0) return;
  state.log->warn(fmt::format(
      "peers cannot access each other's device memory ({}); using messages through the host", why));
}

void share_alone(DeviceRuntime& state) {
  const auto alone = Topology::regular(state.size(), 1);
  const std::string why = share(state, alone, &PhysicalDevice::share_memory);
  check(why.empty(), "{}: {}", starting_heap, why);
}

}  // namespace

void make_device_heap(DeviceRuntime& state, DeviceHeap wanted) {
  if (wanted == DeviceHeap::nvshmem) {
    const std::string why = share(state, state.topology(), &PhysicalDevice::share_memory_of_library);
    check<UnsupportedError>(why.empty(), "PARTITA_DEVICE_HEAP is \"nvshmem\", but {}", why);
    return;
  }
  const std::string why = share(state, state.topology(), &PhysicalDevice::share_memory);
  if (why.empty()) return;
  if (wanted == DeviceHeap::driver) return warn(state, why), share_alone(state);
  const std::string why_not_library = share_by_library(state);
  if (!why_not_library.empty()) {
    return warn(state, fmt::format("{}; {}", why, why_not_library)), share_alone(state);
  }
  if (state.rank() == 0) state.log->info(fmt::format("the device heap uses NVSHMEM's memory ({})", why));
}

}  // namespace partita::devices
