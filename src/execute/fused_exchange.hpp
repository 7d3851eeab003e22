// Small plans on a device, whose time is that of their starts: all that is alike is done at once.
//
//   packs -> early signals -> early waits -> moves -> late signals -> late waits
//
// A pack copies what peers will read into this rank's shared scratch. A move is a copy or a join into an
// operand, of this rank or a peer. Signals that open (that something may be read, or written) are early, and
// so are the waits for them; those that close what the moves have done are late. If all ranks work so, early
// signals depend on packs only, and late ones on early waits only: no rank waits for what waits for it.
#pragma once

#include <cstdint>
#include <optional>
#include <partita/plan.hpp>
#include <vector>

#include "device/accelerator.hpp"
#include "device/flag_board.hpp"
#include "execute/plan_memory.hpp"

namespace partita {

class FusedExchange {
 public:
  /// Nothing where the plan has an order that a fused exchange would not keep.
  static std::optional<FusedExchange> of(const Plan& plan);

  /// Nothing is packed and nothing joined: what concerns one peer is independent of what concerns another.
  bool has_only_copies() const { return packs_.empty() && joins_.empty(); }

  /// Flags that come before all moves, and after them, signals before waits; and the copies between.
  const std::vector<std::size_t>& early() const { return early_; }
  const std::vector<std::size_t>& copies() const { return copies_; }
  const std::vector<std::size_t>& late() const { return late_; }

  /// Room for the copies that the steps have been lowered to.
  void reserve(const std::vector<std::vector<StridedCopy>>& moves);
  /// The copies as they will be collected, valid until the next call.
  std::span<const PlacedCopy> place_copies(const std::vector<std::vector<StridedCopy>>& moves,
                                           const PlanMemory& memory);
  /// All that the plan does, valid until the next call; of it, the flags of `early` and `late`.
  PeerExchange collect(const std::vector<std::vector<StridedCopy>>& moves, const PlanMemory& memory,
                       FlagBoard& flags);
  std::span<const FlagOperation> early_flags() const { return early_flags_; }
  std::span<const FlagOperation> late_flags() const { return late_flags_; }

 private:
  using Steps = std::vector<std::size_t>;  // their indices, in the plan's order

  explicit FusedExchange(const Plan& plan) : plan_(&plan) {}
  bool sort_moves();
  bool add_move(std::size_t index, std::vector<Steps>& groups) const;
  bool packs_twice() const;
  bool reads_what_is_written() const;
  void sort_flags();
  void place(std::size_t index, const std::vector<std::vector<StridedCopy>>& moves, const PlanMemory& memory,
             std::vector<PlacedCopy>& to) const;

  const Plan* plan_;
  Steps packs_, copies_;
  std::vector<Steps> joins_;  // the first step of each is the copy
  Steps early_, late_;        // signals, then waits
  // Kept, because executions allocate nothing.
  std::vector<PlacedCopy> placed_packs_, placed_copies_, placed_parts_;
  std::vector<PlacedJoin> placed_joins_;
  std::vector<FlagOperation> early_flags_, late_flags_;
};

}  // namespace partita
