// Small plans on a device, whose time is that of their starts: all that is alike is done at once.
//
//   packs -> early signals -> early waits -> moves -> late signals -> late waits
//
// A pack copies what peers will read into this rank's shared scratch. A move is a copy into an operand, of
// this rank or a peer. Signals that open (that something may be read, or written) are early, and
// so are the waits for them; those that close what the moves have done are late. If all ranks work so, early
// signals depend on packs only, and late ones on early waits only: no rank waits for what waits for it.
#pragma once

#include <optional>
#include <partita/plan.hpp>
#include <vector>

namespace partita::execution {

/// Steps of a plan, by index.
struct FusedExchange {
  using Steps = std::vector<std::size_t>;

  /// Nothing where the plan has an order that a fused exchange would not keep. Pure.
  static std::optional<FusedExchange> of(const Plan& plan);

  Steps packs;  ///< none: what concerns one peer is independent of what concerns another
  Steps copies;
  Steps early, late;  ///< signals, then waits
};

}  // namespace partita::execution
