// What a walk along the waits of ranks carries, and the error for a walk that has come back.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/serialize.hpp"

namespace partita::runtime {

struct RingProbe {
  static constexpr std::size_t most_named = 32;
  std::uint64_t first = 0;  ///< the wait that it started from
  std::int64_t begun = 0;   ///< when, by the clock of that rank
  /// Each of the waits had lasted so long when the walk passed it: nanoseconds.
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::vector<std::uint64_t> waits;  ///< all
  // What the waits are.
  bool sends = false, receives = false, calls = false, several_contexts = false;
  bool apart = false;  ///< some rank had not come to what the rank before it waits for

  /// What the rank that sends it on waits for, of the receiver, in the context of the note.
  struct Awaited {
    enum class Kind : std::uint8_t {
      message,     ///< of point to point, or its receipt
      signal,      ///< on the board of the node
      check,       ///< a collective check of all ranks
      rendezvous,  ///< of some ranks
      execution,   ///< that it comes to it
    };
    Kind kind = Kind::message;
    std::uint64_t agreements = 0, executions = 0;  ///< of the sender, there
    std::string operation;
  } awaited;

  struct Stop {
    std::int32_t rank = -1;     ///< in the context that all began with
    std::uint32_t context = 0;  ///< its place in `contexts`
    std::string operation;
  };
  std::vector<Stop> stops;  ///< the first `most_named`
  struct InContext {
    std::uint64_t identity = 0;
    std::string ranks;
  };
  std::vector<InContext> contexts;  ///< of those

  /// Not empty: the walk has come back, and this is what the ranks of the ring throw.
  std::string found;
};

auto members_of(is_a<RingProbe::Awaited> auto& one) {
  return std::tie(one.kind, one.agreements, one.executions, one.operation);
}
auto members_of(is_a<RingProbe::Stop> auto& one) {
  return std::tie(one.rank, one.context, one.operation);
}
auto members_of(is_a<RingProbe::InContext> auto& one) {
  return std::tie(one.identity, one.ranks);
}
auto members_of(is_a<RingProbe> auto& one) {
  return std::tie(one.first, one.begun, one.shortest, one.waits, one.sends, one.receives, one.calls,
                  one.several_contexts, one.apart, one.awaited, one.stops, one.contexts, one.found);
}

struct Runtime;

/// Adds the wait of a rank of that context.
void add_stop(RingProbe& probe, const Runtime& context, std::string_view operation, bool for_message);

/// What the ranks of the ring throw: a DisagreementError.
std::string ring_text(const RingProbe& ring);

}  // namespace partita::runtime
