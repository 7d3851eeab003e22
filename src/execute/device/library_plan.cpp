#include "execute/device/library_plan.hpp"

#include <fmt/format.h>

#include <utility>

#include "device/device_group.hpp"
#include "execute/step_clock.hpp"
#include "runtime/checks/node_questions.hpp"

namespace partita::execution {
namespace {

/// At least its neighbours in a ring.
runtime::Greeted greeted_in(const ContextState& context) {
  const int ranks = context.size();
  return runtime::greeted(context, {(context.rank() + ranks - 1) % ranks}, {(context.rank() + 1) % ranks});
}

}  // namespace

LibraryPlan::LibraryPlan(ContextState& context, Plan plan, ByLibrary work)
    : Executor(context, std::move(plan), MemorySpace::device),
      work_(std::move(work)),
      greeted_(greeted_in(context)),
      dense_(context, plan_.operation) {}

void LibraryPlan::relower() {
  dense_.prepare(memory_.locals());
}

void LibraryPlan::run(const Execution& execution) {
  if (context_.device_topology.node_count() > 1) {
    runtime::greetings_of(context_).greet(execution.announced, greeted_, plan_.operation);
  } else {
    runtime::note_work_of_all(context_);
  }
  const std::span<const View> views = memory_.locals();
  timed_in_stream(execution.clock, *context_.device, {}, 0, execution.stream, [&] {
    work_(*context_.device_group(), dense_.pack(views, execution.stream), execution.stream);
    dense_.unpack(views, execution.stream, false);
  });
}

std::string LibraryPlan::why_not_captured() const {
  return fmt::format(
      "{} executes this call, which cannot be captured into graphs; set PARTITA_DEVICE_COLLECTIVES=own to "
      "use "
      "Partita's plans, which can",
      context_.device_group()->name());
}

}  // namespace partita::execution
