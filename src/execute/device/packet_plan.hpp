// A small redistribution between the devices of a node, in packets.
#pragma once

#include <optional>

#include "execute/device/dense_views.hpp"
#include "execute/device/packet_runner.hpp"
#include "execute/executor.hpp"

namespace partita::execution {

/// Local parts of row-major operands that have gaps, as views of the caller may, are packed before and
/// unpacked after.
class PacketPlan final : public Executor {
 public:
  /// `exchange` says all of what the plan does, between its first two buffers. Local.
  PacketPlan(ContextState& context, Plan plan, const planning::SmallExchange& exchange);

  /// Not where PARTITA_COPY_WAY asks for another way, or as of PacketRunner. Collective, before `connect`.
  bool suits_all_ranks() { return packets_.suits_all_ranks(context_.options.copy_way == CopyWay::automatic); }
  void connect() override { packets_.connect(); }

 private:
  bool packs() const { return dense_ && packets_.in_ranges(); }
  void relower() override;
  void run(const Execution& execution) override;
  void exchange(std::span<const View> parts, const Execution& execution);

  PacketRunner packets_;
  std::optional<DenseViews> dense_;  // none: the operands have another order
};

}  // namespace partita::execution
