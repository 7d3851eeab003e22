// A work of a plan on a device, on memory that is copied there and back.
#pragma once

#include <thread>

#include "device/device_memory.hpp"
#include "execute/works/device_bound_work.hpp"
#include "support/models/work_memory.hpp"

namespace partita::testing {

/// `around(put)` calls put(stream) once, and returns when the device may have begun.
template <class Around>
void run_on_device(devices::Accelerator& device, const factorization_works::Job& job, const Around& around) {
  Plan plan = job.plan;
  std::vector<Strides> strides = job.strides;
  const std::size_t operands = plan.buffers.size();
  for (int dtype = 0; dtype < dtype_count; ++dtype)
    plan.buffers.push_back({"workspace", BufferKind::scratch, {}, 0, static_cast<Dtype>(dtype)});
  strides.resize(plan.buffers.size());
  const execution::WorkBinding memory{plan, strides};
  execution::DeviceWorkBinding binding{memory, device, static_cast<int>(operands), 0, {}, false, {}};
  const auto bound = execution::bind_device_work(job.work, binding);
  const auto event = device.event();
  const auto finish = [&] {
    event->record(device.stream());
    while (!event->reached()) std::this_thread::yield();
  };
  std::vector<devices::DeviceMemory> there;
  for (std::vector<char>& here : job.memory) {
    const auto bytes = static_cast<std::int64_t>(here.size());
    device.copy_bytes(here.data(), there.emplace_back(device, bytes).data(), bytes, device.stream());
  }
  const devices::DeviceMemory workspace(device, std::max<std::int64_t>(bound->workspace_bytes(), 1));
  const execution::AddressOf address = [&](const Place& place) {
    const auto buffer = static_cast<std::size_t>(place.buffer);
    return static_cast<char*>(buffer < operands ? there[buffer].data() : workspace.data());
  };
  finish();
  around([&](Stream stream) { bound->enqueue(address, job.parameters, stream); });
  for (std::size_t i = 0; i < there.size(); ++i)
    device.copy_bytes(there[i].data(), job.memory[i].data(), there[i].bytes(), device.stream());
  finish();
}

}  // namespace partita::testing
