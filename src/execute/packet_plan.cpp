#include "execute/packet_plan.hpp"

#include <array>

#include "device/device_synchronization.hpp"

namespace partita {

// The plan's scratch is never touched: none is made.
PacketPlan::PacketPlan(ContextState& context, Plan plan, const SmallExchange& exchange)
    : context_(context),
      plan_(std::move(plan)),
      plan_hash_(plan_.hash()),
      memory_(context, plan_, MemorySpace::device, MemorySpace::host, 0),
      packets_(context, plan_.operation, exchange, PacketRunner::Views::as_operands) {}

void PacketPlan::execute(std::span<const Array::State* const> operands, const Parameters&) {
  enqueue(operands, {});
  finish_device(context_, plan_.operation);
}

void PacketPlan::enqueue(std::span<const Array::State* const> operands, Stream stream) {
  context_.require_usable(plan_.operation);
  memory_.bind(operands, [] {});
  packets_.put(std::array{operands[0]->local, operands[1]->local}, memory_.execution_hash(plan_hash_), stream,
               &plan_);
}

}  // namespace partita
