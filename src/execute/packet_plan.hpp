// A small redistribution between the devices of a node, in packets.
#pragma once

#include "execute/executor.hpp"
#include "execute/packet_runner.hpp"
#include "execute/plan_memory.hpp"

namespace partita {

class PacketPlan final : public Executor {
 public:
  /// `plan` says in steps what `exchange` is, between its first two buffers. Local.
  PacketPlan(ContextState& context, Plan plan, const SmallExchange& exchange);

  const Plan& plan() const override { return plan_; }
  /// Not where PARTITA_COPY_WAY asks for another way, or as of PacketRunner. Collective, before `connect`.
  bool suits_all_ranks() { return packets_.suits_all_ranks(context_.options.copy_way == CopyWay::automatic); }
  void connect() override { packets_.connect(); }
  void execute(std::span<const Array::State* const> operands, const Parameters& parameters = {}) override;
  void enqueue(std::span<const Array::State* const> operands, Stream stream) override;

 private:
  ContextState& context_;
  Plan plan_;
  std::uint64_t plan_hash_;
  PlanMemory memory_;
  PacketRunner packets_;
};

}  // namespace partita
