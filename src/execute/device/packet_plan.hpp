// A small redistribution between the devices of a node, in packets.
#pragma once

#include "execute/device/packet_runner.hpp"
#include "execute/executor.hpp"

namespace partita::execution {

class PacketPlan final : public Executor {
 public:
  /// `plan` says in steps what `exchange` is, between its first two buffers. Local.
  PacketPlan(ContextState& context, Plan plan, const planning::SmallExchange& exchange);

  /// Not where PARTITA_COPY_WAY asks for another way, or as of PacketRunner. Collective, before `connect`.
  bool suits_all_ranks() { return packets_.suits_all_ranks(context_.options.copy_way == CopyWay::automatic); }
  void connect() override { packets_.connect(); }

 private:
  void relower() override { packets_.lower(memory_.strides()[0], memory_.strides()[1]); }
  void run(const Execution& execution) override;

  PacketRunner packets_;
};

}  // namespace partita::execution
