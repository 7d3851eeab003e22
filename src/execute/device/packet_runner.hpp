// The executor of small exchanges between the devices of a node: in packets.
#pragma once

#include <memory>
#include <optional>
#include <partita/stream.hpp>
#include <string>

#include "context/context_state.hpp"
#include "device/packet_board.hpp"
#include "execute/device/packet_nests.hpp"
#include "plan/small_exchange.hpp"

namespace partita::execution {

/// One kernel launch: reads the source into packets, copies the rank's own part, and stores or reduces
/// received data at its destination. As bytes if all data is contiguous on all ranks, otherwise as nests.
///
/// Does not keep the context alive: its owner does.
class PacketRunner {
 public:
  /// Local. `operation` is what the exchange belongs to; of more than `most_given` bytes that a rank gives it
  /// suits none. Of little it takes no more room than others do.
  PacketRunner(ContextState& context, std::string operation, const planning::SmallExchange& exchange,
               std::int64_t most_given = devices::PacketSlots::most_given);

  /// Not where some rank's device or part does not suit, or `may` is false on it. Collective, blocking,
  /// before `connect`.
  bool suits_all_ranks(bool may = true);
  /// Collective, blocking.
  void connect() { board_ = devices::PacketBoard::of(context_, most_given_); }

  /// Whether it is an exchange of byte ranges of dense operands. Otherwise local parts may have any strides.
  bool in_ranges() const { return ranges_.has_value(); }

  /// For an execution that the caller announces and enqueues: sets the strides of the local parts, if they
  /// have changed, before the addresses of the parts.
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
  std::shared_ptr<devices::PacketBoard> board_;
};

}  // namespace partita::execution
