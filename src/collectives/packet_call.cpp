#include "collectives/packet_call.hpp"

#include "execute/device/packet_runner.hpp"
#include "redistribute/packets.hpp"
#include "runtime/checks/call_notes.hpp"

namespace partita::collective {
namespace {

class PacketCall final : public Runner {
 public:
  PacketCall(ContextState& context, const Call& call, const planning::SmallExchange& exchange)
      : packets_(context, std::string(call.operation), exchange, execution::PacketRunner::Views::any),
        hash_(hash_of(call, "packets")) {
    context.notes->keep(hash_, call.operation, call.facts);
  }

  execution::PacketRunner& packets() { return packets_; }
  void run(std::span<const View> views, Stream stream) override { packets_.put(views, hash_, stream); }

 private:
  execution::PacketRunner packets_;
  std::uint64_t hash_;
};

Operand dense_on_device(const Layout& layout, Dtype dtype) {
  Operand operand = Operand::of(layout, dtype);
  operand.space = MemorySpace::device;
  return operand;
}

}  // namespace

// All but the last question has the same answer on all ranks.
std::shared_ptr<Runner> packet_call(ContextState& context, const Call& call) {
  const Topology& topology = context.device_topology;
  const bool some_ranks = context.size() > 1 && context.size() <= devices::PacketSlots::most_ranks;
  if (!call.is_redistribution || call.logical || topology.node_count() != 1 || !some_ranks ||
      context.options.device_collectives == DeviceCollectives::library) {
    return nullptr;
  }
  const std::vector<Layout> layouts = call.layouts();
  const auto exchange =
      redistribution::small_exchange(dense_on_device(layouts[0], call.dtype),
                                     dense_on_device(layouts[1], call.dtype), topology, context.rank());
  if (!exchange) return nullptr;
  const auto made = std::make_shared<PacketCall>(context, call, *exchange);
  if (!made->packets().suits_all_ranks()) return nullptr;
  made->packets().connect();
  return made;
}

}  // namespace partita::collective
