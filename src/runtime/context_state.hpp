// What a Context is made of.
#pragma once

#include <spdlog/logger.h>

#include <any>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <partita/context.hpp>
#include <partita/machine.hpp>
#include <partita/plan.hpp>
#include <string>

#include "device/accelerator.hpp"
#include "device/flag_board.hpp"
#include "device/watchdog.hpp"
#include "memory/node_memory.hpp"
#include "memory/symmetric_heap.hpp"
#include "runtime/error_kind.hpp"
#include "runtime/greetings.hpp"
#include "runtime/home_process.hpp"
#include "runtime/node_board.hpp"
#include "runtime/plan_cache.hpp"
#include "runtime/process_group.hpp"

namespace partita {

class StepClock;

struct ContextState {
  const HomeProcess home;
  ContextOptions options;
  Machine machine;
  int threads = 1;
  /// Turns that a wait spins before it yields; 0 where the node's ranks outnumber its cores.
  int spin_turns = 0;
  /// The same number on all ranks of this context, another one for every other context.
  std::uint64_t identity = 0;
  /// Holds the process's BLAS and FFT threads at `threads`; what it was comes back when the last one goes.
  std::shared_ptr<void> threads_hold;
  std::shared_ptr<spdlog::logger> log;
  // Order matters: members are destroyed from the last to the first.
  std::unique_ptr<ProcessGroup> group;
  std::unique_ptr<NodeMemory> node_memory;
  std::unique_ptr<NodeBoard> board;
  std::unique_ptr<SymmetricHeap> heap;
  /// Of a context with a device; null on the CPU.
  std::unique_ptr<Accelerator> device;
  std::unique_ptr<NodeMemory> device_memory;
  std::unique_ptr<SymmetricHeap> device_heap;
  std::unique_ptr<FlagBoard> flags;
  /// Who can reach whose device memory: each rank a node of its own where peers' memory cannot be mapped.
  Topology device_topology = Topology::regular(1);
  /// Messages of device memory are given to the group as they are; otherwise they go through pinned memory.
  bool device_messages_direct = false;
  /// The last work went into a stream of the caller's, and its end is marked: what comes next follows the
  /// mark.
  std::atomic<bool> device_work_is_marked = false;
  std::unique_ptr<Watchdog> watchdog;
  /// The operations' own; they must not own this state (a circle would keep both for ever).
  PlanCache plans;
  /// What has come from single ranks before it was asked for; of send and receive.
  std::shared_ptr<void> letters;
  /// Of executions that go between nodes without the host; null: there has been none.
  std::shared_ptr<Greetings> greetings;
  /// Collectives as they were called lately (collectives/recent.hpp).
  std::shared_ptr<void> recent_calls;
  bool closed = false;
  /// While a timeline is recorded; null: executors note nothing.
  StepClock* step_clock = nullptr;
  /// Signals of earlier executions, by node rank and channel: counters only grow.
  std::vector<std::array<std::uint64_t, channel_count>> signals_seen;

  int rank() const { return group->rank(); }
  int size() const { return group->size(); }
  const Topology& topology() const { return group->topology(); }
  /// Who can reach whose memory of this kind.
  const Topology& topology(MemorySpace space) const {
    return space == MemorySpace::device ? device_topology : topology();
  }
  /// Throws UnsupportedError: device memory in a context without a device.
  SymmetricHeap& heap_in(MemorySpace space) const;
  /// Where new arrays go when nothing is said.
  MemorySpace default_space() const { return device ? MemorySpace::device : MemorySpace::host; }

  /// Throws FailedContextError or (closed) ArgumentError. The first line of every call on a context.
  void require_usable(std::string_view operation) const;
  /// Throws FailedContextError, in a forked child too, or a DisagreementError that was found behind the
  /// rank's back.
  void require_alive(std::string_view operation) const;
  /// Marks the context failed, here and for the other ranks; the first failure stays. Gives up the messages
  /// under way, so it is for the thread that uses the context.
  void fail(const std::string& why, ErrorKind kind = ErrorKind::error) noexcept;
  /// The same with the exception that is being handled.
  void fail_with_current() noexcept;
  /// The same for any other thread: the messages are given up when the one that uses the context comes by,
  /// and its next call throws a disagreement that was found so.
  void fail_beside(const std::string& why, ErrorKind kind = ErrorKind::error) noexcept;
  /// Fails the context and throws what it failed of first.
  [[noreturn]] void give_up(const CaughtError& why);
  /// Throws what the context failed of, if it has. For waits.
  void throw_failure() const;
  /// A forked child has no part in its parent's context: for it, it has failed.
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire) || !home.is_here(); }
  /// Gives up the messages under way where the context has failed. By the thread that uses the context.
  void settle_failure() const noexcept;
  /// Says that this rank takes part no more, and `how` it left unless the context was closed.
  void leave(std::string_view how) noexcept;
  std::string failure() const;

  /// The vendor's collectives among the ranks' devices; null: there are none, or nobody has asked yet.
  DeviceGroup* device_group() const;
  bool device_group_asked = false;
  /// Makes `vendors` this context's own: it is aborted when the context fails, and goes before the device.
  void adopt(std::unique_ptr<DeviceGroup> vendors);

  /// Collective checks begun by all ranks together (those of subgroups do not count).
  std::uint64_t agreements = 0;
  /// Collective checks that are going on, one inside the other.
  int agreement_depth = 0;

  ContextState() = default;
  ContextState(const ContextState&) = delete;
  ContextState& operator=(const ContextState&) = delete;
  /// Waits for nobody. A failed context's group and memory stay until the process ends. In a forked child it
  /// must not be called (make_context_state sees to that).
  ~ContextState();

 private:
  void note_failure(const std::string& why, ErrorKind kind, bool seen) noexcept;
  /// The ranks of other nodes.
  void tell(bool has_failed, ErrorKind kind, std::string_view text) const noexcept;

  std::atomic<bool> failed_{false};
  mutable bool settled_ = false;
  mutable std::mutex failure_mutex_;
  CaughtError failure_;
  mutable std::atomic<bool> unseen_disagreement_{false};
  /// Under the mutex, since whoever fails the context may be another thread than the one that adopts.
  std::unique_ptr<DeviceGroup> device_group_;
};

}  // namespace partita
