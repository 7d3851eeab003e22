// What runs a plan: bound to memory, ready to run again and again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <partita/plan.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <vector>

#include "array/array_state.hpp"
#include "context/context_state.hpp"
#include "device/run_ahead.hpp"
#include "execute/plan_memory.hpp"
#include "plan/small_exchange.hpp"
#include "plan/solve_steps.hpp"
#include "runtime/checks/announcement.hpp"

namespace partita::devices {
class DeviceGroup;
}

namespace partita::execution {

/// Enqueues all of an operation in a vendor's library of collectives, on dense views.
using ByLibrary = std::function<void(devices::DeviceGroup&, std::span<const View>, Stream)>;

/// What a planner gives for one rank.
struct Planned {
  Plan plan;
  std::vector<planning::PacketSteps> packets = {};       ///< what a device sends in packets if all ranks can
  std::optional<planning::SmallExchange> exchange = {};  ///< all of it in packets: see PacketPlan
  ByLibrary by_library = {};                             ///< if set, instead of steps: see LibraryPlan
  std::size_t given = 0;                                 ///< if not 0, it runs in halves: see BoundPlan
  std::optional<planning::SolveSteps> solve = {};        ///< what devices do in few launches if all ranks can
};

/// The interface between plans and their execution: on the host (BoundPlan) and on devices (DevicePlan in the
/// order of the plan; FusedPlan in one kernel; GroupedPlan if a vendor's library transfers the messages;
/// PacketPlan for small transfers).
/// Made in two steps. Creation is local and allocates this rank's memory; it is part of the collective check
/// of the plan, so that if one rank has no memory left, no rank has the plan. `connect` creates the memory
/// that the ranks share. Execution allocates nothing.
/// Does not keep the context alive: the owner of an executor does.
class Executor {
 public:
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Plan& plan() const { return plan_; }

  /// Allocates the shared scratch. Once, before the first execution. Collective, blocking; errors are the
  /// same on every rank.
  virtual void connect() { memory_.connect(); }

  /// On a device: the workspace of its works on this rank, in addition to the scratch of the plan.
  virtual std::int64_t local_workspace_bytes() const { return 0; }

  /// Runs the plan on these arrays, one an operand buffer, in the order of the plan's buffers, with these
  /// numbers, which must be alike on all ranks. In the order of `stream` (none given: the context's own):
  /// returns when the work has been given to the device, except where a plan's messages have to be waited
  /// for. The host, which has no streams, has done it by then. Collective. Throws ArgumentError where an
  /// array does not match its buffer's operand, UnsupportedError on the host for any stream that is given and
  /// where the plan cannot be captured. Any error after the first step fails the context: its peers cannot
  /// know how far this rank came.
  void enqueue(std::span<const Array::State* const> operands, const Parameters& parameters,
               const std::optional<Stream>& stream);
  /// The same, done when it returns. Blocking.
  void execute(std::span<const Array::State* const> operands, const Parameters& parameters = {});

  /// The second half of an execution in halves that was enqueued. Collective, blocking.
  virtual void finish() {}

  /// The one for the memory of the plan's operands. Local; all ranks make it, and then agree. `workspace`:
  /// see PlanMemory; behind the scratch of the plan comes that of its works.
  static std::unique_ptr<Executor> bind(ContextState& context, Planned planned,
                                        std::optional<std::int64_t> workspace = {});
  /// Connects what `bind` has given, or another one in its place where that is only for all ranks, and not
  /// all have it. Collective, as `connect`.
  static void connect_all(ContextState& context, std::unique_ptr<Executor>& executor);

 protected:
  /// One that is in flight.
  struct Execution {
    runtime::Executed announced;
    const Parameters& parameters;
    Stream stream;               ///< none on the host
    bool captured = false;       ///< the execution is captured into a graph
    StepClock* clock = nullptr;  ///< null: not recorded
  };

  /// `messages`, `workspace`: see PlanMemory.
  Executor(ContextState& context, Plan plan, MemorySpace messages,
           std::optional<std::int64_t> workspace = {});

  /// The strides of the bound operands have changed.
  virtual void relower() = 0;
  /// On a device: puts it into the stream.
  virtual void run(const Execution& execution) = 0;
  /// On a device: no host is needed while it is in flight. The same on every rank.
  virtual bool may_be_captured() const { return true; }
  /// For the error, behind the operation's name.
  virtual std::string why_not_captured() const;

  ContextState& context_;
  const Plan plan_;
  PlanMemory memory_;
  std::shared_ptr<devices::RunAhead> ahead_;  // null on the host

 private:
  void begin(const Parameters& parameters, Stream stream, bool captured);

  std::uint64_t plan_hash_;
};

/// Bytes of the plan's scratch that a workspace of the caller's holds on this rank, in front of what the
/// works take (`local_workspace_bytes`): all but the buffers of messages that are staged through the host.
std::int64_t scratch_bytes(const ContextState& context, const Plan& plan);

/// The memory space of a plan's operands. Throws UnsupportedError if they are in both.
MemorySpace space_of(const Plan& plan);

}  // namespace partita::execution
