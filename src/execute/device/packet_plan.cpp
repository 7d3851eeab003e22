#include "execute/device/packet_plan.hpp"

#include "execute/step_clock.hpp"

namespace partita::execution {

// The plan's scratch is never touched: none is made.
PacketPlan::PacketPlan(ContextState& context, Plan plan, const planning::SmallExchange& exchange)
    : Executor(context, std::move(plan), MemorySpace::host, 0),
      packets_(context, plan_.operation, exchange, PacketRunner::Views::as_operands) {}

void PacketPlan::run(const Execution& execution) {
  const auto local = [this](int buffer) { return memory_.address({buffer, plan_.rank, 0, {}}); };
  timed_in_stream(execution.clock, *context_.device, {}, 0, execution.stream,
                  [&] { packets_.exchange(local(0), local(1), execution.stream, execution.captured); });
}

}  // namespace partita::execution
