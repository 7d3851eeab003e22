// What runs a plan: bound to memory, ready to run again and again.
#pragma once

#include <memory>
#include <partita/plan.hpp>
#include <partita/stream.hpp>
#include <span>

#include "array/array_state.hpp"
#include "context/context_state.hpp"

namespace partita {

/// The seam between plans and what carries them out: the host (BoundPlan) and the device (DevicePlan, in the
/// plan's order; FusedPlan, at once; GroupedPlan, where a vendor's library carries the messages).
/// Made in two steps. Creation is local and allocates what this rank has for itself: it belongs inside the
/// collective check of the plan, so that where one rank has no memory left, all ranks go without the plan.
/// `connect` makes what the ranks have together. Execution allocates nothing.
/// Holds no share of the context: whoever owns an executor keeps the context alive.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual const Plan& plan() const = 0;

  /// Allocates the shared scratch. Once, before the first execution. Collective, blocking; errors are the
  /// same on every rank.
  virtual void connect() = 0;

  /// Runs the plan on these arrays, one an operand buffer, in the order of the plan's buffers. Collective,
  /// blocking. Throws ArgumentError where an array does not match its buffer's operand. Any error after the
  /// first step fails the context: its peers cannot know how far this rank came.
  virtual void execute(std::span<const Array::State* const> operands, const Parameters& parameters = {}) = 0;

  /// The same in the order of `stream`: returns when the work has been given to the device, except where a
  /// plan's messages have to be waited for. UnsupportedError on the host.
  virtual void enqueue(std::span<const Array::State* const> operands, Stream stream) = 0;

  /// The one for the memory that the plan's operands lie in. Local.
  static std::unique_ptr<Executor> bind(ContextState& context, Plan plan);
  /// Connects what `bind` has given, or another one in its place where that is only for all ranks, and not
  /// all have it. Collective, as `connect`.
  static void connect_all(ContextState& context, std::unique_ptr<Executor>& executor);
};

/// The memory that a plan's operands lie in. Throws UnsupportedError where they lie in both kinds.
MemorySpace space_of(const Plan& plan);

/// Throws ArgumentError where an array does not suit the operand buffer that it is given for.
void match(const Buffer& buffer, const Array::State& array);

}  // namespace partita
