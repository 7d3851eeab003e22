// The devices' part of a context.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "device/accelerator.hpp"
#include "device/flag_board.hpp"
#include "device/watchdog.hpp"
#include "memory/node_memory.hpp"
#include "memory/symmetric_heap.hpp"
#include "runtime/runtime.hpp"

namespace partita::devices {

class PacketBoard;
class RunAhead;

/// All of it empty in a context without a device.
struct DeviceRuntime : runtime::Runtime {
  // Order matters: members are destroyed from the last to the first.
  std::unique_ptr<Accelerator> device;
  int device_sharers = 1;  ///< ranks of the context in this process that use the device
  std::unique_ptr<DeviceEvent> device_mark;
  std::unique_ptr<memory::NodeMemory> device_memory;
  std::unique_ptr<memory::SymmetricHeap> device_heap;
  /// Drops some of the plans that the context keeps, the same on all ranks, so that heaps get their memory;
  /// false: there are none. Set before there is a heap.
  std::function<bool()> drop_plans;
  std::unique_ptr<FlagBoard> flags;
  /// Which ranks can access each other's device memory; every rank is a separate node if peers' memory cannot
  /// be mapped.
  Topology device_topology = Topology::regular(1);
  /// Messages of device memory are given to the group as they are; otherwise they go through pinned memory.
  bool device_messages_direct = false;
  /// The last work went into a stream of the caller's, and `device_mark` is at its end: what comes next
  /// follows it.
  std::atomic<bool> device_work_is_marked = false;
  /// Created at first use (RunAhead::of, PacketBoard::of); plans use them.
  std::shared_ptr<RunAhead> run_ahead;
  std::shared_ptr<PacketBoard> packets;
  std::unique_ptr<Watchdog> watchdog;  ///< from the first work on (begin_device_work)

  /// The vendor's collectives among the ranks' devices; null: not available, or not requested yet.
  DeviceGroup* device_group() const;
  bool device_group_asked = false;
  /// Takes ownership of `vendors`: it is aborted if the context fails, and destroyed before the device.
  void adopt(std::unique_ptr<DeviceGroup> vendors);

  /// The first step of closing a context: stops the watchdog and waits until the streams are complete
  /// (otherwise the context fails), so that their memory can be freed.
  void stop_device() noexcept;
  /// A failed context's device and its memory stay until the process ends.
  ~DeviceRuntime() override;

 private:
  /// Nothing on the device waits for ever.
  void release_waits() noexcept override;

  mutable std::mutex group_mutex_;  // the thread that fails the context may not be the one that adopts
  std::unique_ptr<DeviceGroup> device_group_;
};

/// The vendor's library of collectives among the ranks of a context, created at first use; null: not
/// available. Collective, blocking within the deadline; an exception has failed the context.
DeviceGroup* library_of(DeviceRuntime& state);

/// Whether the library carries the messages of device memory between nodes, in groups: there are nodes, it is
/// there, and no other way is asked for. As `library_of`.
bool messages_go_in_groups(DeviceRuntime& state);

}  // namespace partita::devices
