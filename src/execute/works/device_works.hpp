// The compute steps of a device plan.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/device_memory.hpp"
#include "device/last_use.hpp"
#include "execute/plan_memory.hpp"
#include "execute/works/device_bound_work.hpp"

namespace partita::execution {

/// All works of a plan, bound, and the memory that they share. A plan without any costs nothing.
class DeviceWorks {
 public:
  /// Binds them for trial, so that what devices do not offer is refused before anything has begun, and takes
  /// the workspace: in memory of the caller's on the heap, if that is given from this offset on. `touched`:
  /// by step; works that use it go through one stream, in the order of the plan. `use`: of the plan's memory,
  /// which whoever executes it notes. Local; throws UnsupportedError, MemoryError.
  DeviceWorks(ContextState& context, const Plan& plan, std::span<const planning::Touched> touched,
              devices::LastUse& use, std::optional<std::int64_t> given);
  /// The streams have done with the workspace, or the context has failed. Never throws.
  ~DeviceWorks();
  DeviceWorks(const DeviceWorks&) = delete;
  DeviceWorks& operator=(const DeviceWorks&) = delete;

  /// By step: a multiply touches what the epilogue behind it does, if they may be done together.
  void join_ended(std::vector<planning::Touched>& touched) const;

  /// The operands lie so from here on. May take more workspace, where they are not dense.
  void lower(const std::vector<Strides>& strides) { lower(strides, false); }
  /// Transforms do.
  bool store_to_peers() const { return put_to_peers_.share > 0; }
  void enqueue(const Step& step, const PlanMemory& memory, const Parameters& parameters, Stream stream,
               bool captured);
  std::int64_t workspace_bytes() const { return workspace_.bytes() > 0 ? workspace_.bytes() : given_bytes_; }

 private:
  void lower(const std::vector<Strides>& strides, bool may_try);
  void take_counters(std::int64_t count);
  char* workspace() const;

  ContextState& context_;
  const Plan& plan_;
  devices::LastUse& use_;
  Plan places_;  // the buffers of the plan, and those of DeviceWorkBinding
  planning::PutToPeers put_to_peers_;
  std::vector<std::optional<EndedMultiply>> ended_;      // by work
  std::vector<std::unique_ptr<DeviceBoundWork>> works_;  // null: done with the one before
  devices::DeviceMemory counters_;                       // the same however the operands lie
  devices::DeviceMemory workspace_;
  char* given_ = nullptr;  // in its place, as long as no more is needed
  std::int64_t given_bytes_ = 0;
  bool in_graphs_ = false;                       // graphs use it
  std::vector<devices::DeviceMemory> outgrown_;  // and still use these
};

}  // namespace partita::execution
