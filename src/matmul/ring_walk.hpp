// From a ring to the steps of one rank.
#pragma once

#include <optional>
#include <vector>

#include "matmul/last_pass.hpp"
#include "matmul/puts.hpp"

namespace partita::multiplication {

/// Writes the multiply where the frame has a ring:
///
///     grant the rank before this one `landing products` (and all others D, where they put their parts)
///     at each step, piece by piece:  wait for what has arrived;  multiply, and add it;
///                                    put it to the next rank, or, at the last step, do the last pass
///     holders wait for what the others put of D
///
/// What arrives has a place of its own for every step.
class RingWalk {
 public:
  RingWalk(const Frame& frame, planning::PlanBuilder& builder);
  void run();

  /// Bytes of `products` and `landing products`, the same on every rank.
  static std::int64_t products_bytes(const Frame& frame);
  static std::int64_t landing_bytes(const Frame& frame);

 private:
  static constexpr planning::Channel written = planning::Channel::written;

  int ranks() const { return frame_.problem.ranks(); }
  int next() const { return (rank_ + 1) % ranks(); }
  int before() const { return (rank_ + ranks() - 1) % ranks(); }
  Region piece(int holder, int number) const {
    return piece_of(summed_.region(holder), *frame_.ring, number);
  }
  bool is_last(int step) const { return step + 1 == ranks(); }
  bool puts_to_all(int rank) const;
  bool passes_on(int rank) const;

  void grant();
  void multiply(int step, int number);
  void pass_on(int step, int number, const Region& region, const Place& made);
  void finish(const Region& region, const std::optional<Part>& arrived);
  void await_parts();
  Part factor(const Region& of, bool of_a) const;
  Place packed(int buffer, int rank, int slot, int holder, int number) const;

  const Frame& frame_;
  planning::PlanBuilder& builder_;
  int rank_;
  Layout summed_;
  std::int64_t slot_bytes_;
  LastPass last_pass_;
  Grants grants_;
  std::vector<int> peers_;  // from the one before on
};

}  // namespace partita::multiplication
