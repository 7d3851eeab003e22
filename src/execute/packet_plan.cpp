#include "execute/packet_plan.hpp"

#include <algorithm>

#include "device/copy_way.hpp"
#include "execute/step_clock.hpp"
#include "runtime/exchange_values.hpp"

namespace partita {
namespace {

constexpr int source_buffer = 0;
constexpr int destination_buffer = 1;

/// What a rank says of its part.
struct PacketCapabilities {
  std::int64_t unit_bytes = 0;  // 0: it does not fit
  std::int64_t message_bytes = 0;
};

}  // namespace

// The plan's scratch is never touched: none is made.
PacketPlan::PacketPlan(ContextState& context, Plan plan)
    : Executor(context, std::move(plan), MemorySpace::host, 0), messages_(plan_) {}

bool PacketPlan::suits_all_ranks() {
  const bool fits = messages_.fits() && context_.options.copy_way == CopyWay::automatic &&
                    context_.device->offers_packets(plan_.buffers[source_buffer].operand->dtype, {});
  const PacketCapabilities mine{fits ? messages_.unit_bytes() : 0, messages_.message_bytes()};
  std::int64_t most = 0;
  unit_bytes_ = mine.unit_bytes;
  for (const PacketCapabilities& offer : exchange_values(context_, plan_.operation, mine)) {
    unit_bytes_ = std::min(unit_bytes_, offer.unit_bytes);
    most = std::max(most, offer.message_bytes);
  }
  constexpr std::int64_t wire_of_a_byte = PacketSlots::packet_bytes / PacketSlots::data_bytes;
  return unit_bytes_ > 0 && PacketMoves::wire_bytes(most, unit_bytes_) <=
                                wire_of_a_byte * PacketSlots::most_bytes(context_.size());
}

void PacketPlan::run(const Execution& execution) {
  PacketMoves all = messages_.moves();
  all.slots = board_->slots();
  all.rank = plan_.rank;
  all.source = memory_.address({source_buffer, plan_.rank, 0, {}});
  all.destination = memory_.address({destination_buffer, plan_.rank, 0, {}});
  all.unit_bytes = unit_bytes_;
  all.captured = execution.captured;
  timed_in_stream(execution.clock, *context_.device, {}, 0, execution.stream,
                  [&] { context_.device->move_packets(all, execution.stream); });
}

}  // namespace partita
