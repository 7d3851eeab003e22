// A small call between the devices of a node, in packets.
#pragma once

#include <memory>
#include <string>

#include "collectives/call.hpp"
#include "collectives/dense_views.hpp"
#include "collectives/runner.hpp"
#include "context/context_state.hpp"
#include "device/packet_board.hpp"
#include "device/run_ahead.hpp"

namespace partita::collective {

/// Holds no share of the context: whoever owns it keeps the context alive.
class PacketCall final : public Runner {
 public:
  /// Nothing where the call is too large or of another kind for that, on any rank. Collective.
  static std::shared_ptr<Runner> of(ContextState& context, const Call& call);

  PacketCall(ContextState& context, const Call& call, ByteExchange ranges);

  void run(std::span<const View> views, Stream stream) override;

 private:
  void put(std::span<const View> views, Stream stream, bool captured);

  ContextState& context_;
  std::string operation_;
  std::uint64_t hash_;
  Dtype dtype_;
  ByteExchange ranges_;
  DenseViews dense_;
  std::shared_ptr<PacketBoard> board_;
  std::shared_ptr<RunAhead> ahead_;
};

}  // namespace partita::collective
