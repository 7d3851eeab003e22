// What a Context is made of.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <partita/machine.hpp>
#include <partita/plan.hpp>
#include <vector>

#include "context/attachments.hpp"
#include "context/plan_cache.hpp"
#include "device/device_runtime.hpp"
#include "memory/cross_memory.hpp"
#include "memory/node_memory.hpp"
#include "memory/symmetric_heap.hpp"

namespace partita::execution {
class StepClock;
}

namespace partita {

/// Ranks that agree, wait and fail together (Runtime), their devices (DeviceRuntime), and here the memory of
/// the host, and what operations keep.
struct ContextState final : devices::DeviceRuntime {
  Machine machine;
  int threads = 1;
  /// Keeps the process's BLAS and FFT threads at `threads`; the last holder restores the previous number.
  std::shared_ptr<void> threads_hold;
  // Order matters: members are destroyed from the last to the first.
  std::unique_ptr<memory::NodeMemory> node_memory;
  std::unique_ptr<memory::SymmetricHeap> heap;
  /// Null: ranks do not read each other's ordinary memory.
  std::unique_ptr<memory::CrossMemory> cross_memory;
  /// The group's, with what the ranks found out of each other's memory.
  Topology host_topology = Topology::regular(1);
  /// Executions in halves whose second ones are still to come, the oldest first.
  std::vector<const void*> started;
  /// The operations' own, which plans use; as these, they must not own this state (a circle would keep both
  /// for ever).
  contexts::Attachments attachments;
  contexts::PlanCache plans;
  /// What has come from single ranks before it was asked for; of send and receive.
  std::shared_ptr<void> unexpected;
  /// While a timeline is recorded; null: executors note nothing.
  execution::StepClock* step_clock = nullptr;
  /// Signals of earlier executions, by node rank and channel: counters only grow.
  std::vector<std::array<std::uint64_t, channel_count>> signals_seen;

  using runtime::Runtime::topology;
  /// Who can reach whose memory of this kind.
  const Topology& topology(MemorySpace space) const {
    return space == MemorySpace::device ? device_topology : host_topology;
  }
  /// Throws UnsupportedError: device memory in a context without a device.
  memory::SymmetricHeap& heap_in(MemorySpace space) const;
  /// Where new arrays go when nothing is said.
  MemorySpace default_space() const { return device ? MemorySpace::device : MemorySpace::host; }
  /// Of the device whose memory that is; -1: the host's, or there is none.
  int device_index(MemorySpace space) const;

  std::uint64_t hash_of_plans() const override { return plans.hash_of_keys(); }
  void forget_plans() noexcept override { plans.forget(); }

  /// A state that a forked child leaves alone: what it says there would be said in its parent's name, and its
  /// threads are not there.
  static std::shared_ptr<ContextState> make();
  /// Does not wait for other ranks. The memory of a failed context is kept until the process exits.
  ~ContextState() override;

 private:
  ContextState() = default;
};

namespace contexts {

/// The last steps of making a context, for `initialize` and `subgroup` alike: gives one whose group, options,
/// threads and way of reading ordinary memory are set its shared memory, board, heap, device, and the hold on
/// the threads of BLAS. Collective over the group, blocking.
void start_context(ContextState& state);

/// If `stream` (if unset, the context's own) is being captured: keeps `plan`, whose work is added to the
/// graph, as long as the graph and its copies exist, at most until the context is closed or destroyed.
void keep_for_graph(ContextState& state, Stream stream, const std::shared_ptr<void>& plan);

}  // namespace contexts
}  // namespace partita
