// The executor of small exchanges between the devices of a node: in packets.
#pragma once

#include <memory>
#include <optional>
#include <partita/stream.hpp>
#include <span>
#include <string>

#include "context/context_state.hpp"
#include "device/packet_board.hpp"
#include "device/run_ahead.hpp"
#include "execute/device/dense_views.hpp"
#include "execute/device/packet_nests.hpp"
#include "plan/small_exchange.hpp"

namespace partita::execution {

/// One start: the source is read straight into packets, the own part is copied, and what comes is written, or
/// joined, where it belongs. As bytes where everything lies in runs on all ranks, as nests otherwise.
///
/// Holds no share of the context: whoever owns it keeps the context alive.
class PacketRunner {
 public:
  /// Which local parts come: such as the operands say, or any of dense operands', which are packed before and
  /// unpacked after if they are not dense.
  enum class Views : std::uint8_t { as_operands, any };

  /// Local. `operation` is what the exchange belongs to; of more than `most_given` bytes that a rank gives it
  /// suits none. Of little it takes no more room than others do.
  PacketRunner(ContextState& context, std::string operation, const planning::SmallExchange& exchange,
               Views views, std::int64_t most_given = devices::PacketSlots::most_given);

  /// Not where some rank's device or part does not suit, or `may` is false on it. Collective, blocking,
  /// before `connect`.
  bool suits_all_ranks(bool may = true);
  /// Collective, blocking.
  void connect() { board_ = devices::PacketBoard::of(context_, most_given_); }

  /// Puts one exchange between the local parts of source and destination into the stream. `hash` of what all
  /// ranks must have alike is announced.
  void put(std::span<const View> views, std::uint64_t hash, Stream stream);

  /// Of an execution that the caller announces and puts into a stream: first the strides of the local parts,
  /// where they are others than before, then where the parts lie.
  void lower(const Strides& source, const Strides& destination);
  void exchange(const void* source, void* destination, Stream stream, bool captured);

 private:
  bool fits(std::int64_t most, std::int64_t given) const;

  ContextState& context_;
  std::string operation_;
  std::optional<devices::ByteExchange> ranges_;  // if nothing, nests
  PacketNests nests_;
  std::int64_t most_given_;
  std::int64_t unit_bytes_ = 1;
  bool offered_ = false;
  std::optional<DenseViews> dense_;
  std::shared_ptr<devices::PacketBoard> board_;
  std::shared_ptr<devices::RunAhead> ahead_;
};

}  // namespace partita::execution
