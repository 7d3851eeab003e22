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
  /// Binds the works for trial, so that unsupported works are errors before anything has begun, and allocates
  /// the workspace, or uses the caller's memory on the heap from this offset. Works in the order of the plan
  /// share a part of it, and works in other lanes another. `touched`: by step. `use`: the use of the plan's
  /// memory, which the executor records. Local; throws UnsupportedError, MemoryError.
  DeviceWorks(ContextState& context, const Plan& plan, std::span<const planning::Touched> touched,
              devices::LastUse& use, std::optional<std::int64_t> given);
  /// The streams have done with the workspace, or the context has failed. Never throws.
  ~DeviceWorks();
  DeviceWorks(const DeviceWorks&) = delete;
  DeviceWorks& operator=(const DeviceWorks&) = delete;

  /// By step: a multiply touches what the epilogue behind it does, if they may be done together.
  void join_ended(std::vector<planning::Touched>& touched) const;

  /// Sets the strides of the operands. May need more workspace if they are not dense.
  void lower(const std::vector<Strides>& strides) { lower(strides, false); }
  /// Transforms do.
  bool store_to_peers() const { return put_to_peers_.share > 0; }
  void enqueue(const Step& step, const PlanMemory& memory, const Parameters& parameters, Stream stream,
               bool captured);
  std::int64_t workspace_bytes() const { return workspace_.bytes() > 0 ? workspace_.bytes() : given_bytes_; }

 private:
  void lower(const std::vector<Strides>& strides, bool may_try);
  void take_counters(std::int64_t count);
  char* workspace(std::size_t work) const;

  ContextState& context_;
  const Plan& plan_;
  devices::LastUse& use_;
  Plan places_;  // the buffers of the plan, and those of DeviceWorkBinding
  planning::PutToPeers put_to_peers_;
  std::vector<std::optional<EndedMultiply>> ended_;      // by work
  std::vector<bool> in_lanes_;                           // by work: in another lane than `in_order`
  std::vector<std::unique_ptr<DeviceBoundWork>> works_;  // null: done with the one before
  devices::DeviceMemory counters_;                       // the same for all strides of the operands
  devices::DeviceMemory workspace_;
  char* given_ = nullptr;  // in its place, as long as no more is needed
  std::int64_t given_bytes_ = 0;
  std::int64_t of_lanes_ = 0;                    // where the workspace of those begins
  bool in_graphs_ = false;                       // graphs use it
  std::vector<devices::DeviceMemory> outgrown_;  // and still use these
};

}  // namespace partita::execution
