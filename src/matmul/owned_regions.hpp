// What every rank holds of an operand, worked out once for all that look at all ranks.
#pragma once

#include <memory>
#include <partita/operand.hpp>
#include <vector>

namespace partita::multiplication {

/// A value, cheap to copy (shared, immutable); thread-safe. Making it takes time and memory in proportion to
/// the ranks.
class OwnedRegions {
 public:
  explicit OwnedRegions(const Layout& layout);

  const Region& by(int rank) const { return state_->regions[static_cast<std::size_t>(rank)]; }
  /// The first of the ranks that hold the same region as this one, which holds something.
  int first_holder(int rank) const {
    return state_->first.empty() ? rank : state_->first[static_cast<std::size_t>(rank)];
  }
  std::int64_t elements() const { return state_->elements; }  ///< over all ranks, replicas counted

 private:
  struct State {
    std::vector<Region> regions;  // by rank
    std::vector<int> first;       // by rank; empty: each holds what nobody else does
    std::int64_t elements = 0;
  };
  std::shared_ptr<const State> state_;
};

/// A, B or D. A value.
struct HeldOperand : Operand {
  HeldOperand(Operand operand) : Operand(std::move(operand)), held(layout) {}  // NOLINT: the same thing
  bool batched() const { return layout.dimensions() > 2; }                     ///< has leading dimensions

  OwnedRegions held;
};

/// Whether a rank that holds the one has all of the other.
bool covers(const Region& held, const Region& wanted);

/// Elements that both regions hold.
std::int64_t common_size(const Region& a, const Region& b);

/// Smallest index along each dimension; the region must not be empty.
Index front(const Region& region);

/// Whether the first element of a piece is in `held`: all of it then, where a piece has one owner. Neither is
/// empty.
bool holds_front(const Region& held, const Region& piece);

}  // namespace partita::multiplication
