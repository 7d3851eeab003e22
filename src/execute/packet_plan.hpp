// A plan of messages between the devices of a node, carried out in packets.
#pragma once

#include <memory>

#include "device/packet_board.hpp"
#include "execute/executor.hpp"
#include "execute/packet_messages.hpp"

namespace partita {

/// One start: the source is read straight into packets, the own part is copied, and what comes is written to
/// where it belongs.
class PacketPlan final : public Executor {
 public:
  /// `plan` is of one node. Local.
  PacketPlan(ContextState& context, Plan plan);

  /// Not where some rank's device or plan does not suit: PARTITA_COPY_WAY asks for another way, messages are
  /// too large, or there are too many pieces. Collective, before `connect`.
  bool suits_all_ranks();
  void connect() override { board_ = PacketBoard::of(context_); }

 private:
  void relower() override { messages_.lower(memory_.strides()); }
  void run(const Execution& execution) override;
  std::int64_t starts() const override { return 1; }

  PacketMessages messages_;
  std::int64_t unit_bytes_ = 1;
  std::shared_ptr<PacketBoard> board_;
};

}  // namespace partita
