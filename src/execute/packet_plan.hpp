// A plan of messages between the devices of a node, carried out in packets.
#pragma once

#include <memory>
#include <vector>

#include "device/packet_board.hpp"
#include "device/run_ahead.hpp"
#include "execute/executor.hpp"
#include "execute/packet_messages.hpp"
#include "execute/plan_memory.hpp"

namespace partita {

/// One start: the source is read straight into packets, the own part is copied, and what comes is written to
/// where it belongs.
class PacketPlan final : public Executor {
 public:
  /// `plan` is of one node. Local.
  PacketPlan(ContextState& context, Plan plan);

  const Plan& plan() const override { return plan_; }
  /// Not where some rank's device or plan does not suit: PARTITA_COPY_WAY asks for another way, messages are
  /// too large, or there are too many pieces. Collective, before `connect`.
  bool suits_all_ranks();
  void connect() override { board_ = PacketBoard::of(context_); }
  void execute(std::span<const Array::State* const> operands, const Parameters& parameters = {}) override;
  void enqueue(std::span<const Array::State* const> operands, Stream stream) override;

 private:
  void run(Stream stream, bool captured);

  ContextState& context_;
  Plan plan_;
  std::uint64_t plan_hash_;
  PlanMemory memory_;
  PacketMessages messages_;
  std::int64_t unit_bytes_ = 1;
  std::shared_ptr<PacketBoard> board_;
  std::shared_ptr<RunAhead> ahead_;
};

}  // namespace partita
