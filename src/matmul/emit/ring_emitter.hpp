// From a ring to the steps of one rank.
#pragma once

#include <optional>
#include <vector>

#include "matmul/emit/last_pass.hpp"
#include "plan/peer_memory.hpp"

namespace partita::multiplication {

/// Writes the multiply where the buffers has a ring:
///
///     grant those who put sums here `landing products` (and all others D, where they put their parts)
///     for each distance, piece by piece:  wait for what has arrived, unless a chain begins;  multiply, and
///                                         add it;  put it to the next rank, or to the holder
///     for the own part:  the same, with the first sum that arrives;  the others in passes, of which the last
///                        one does all that follows
///     holders wait for what the others put of D
///
/// What arrives has a separate place for every distance.
class RingEmitter {
 public:
  RingEmitter(const MatmulBuffers& buffers, planning::PlanBuilder& builder);
  void run();

  /// Bytes of `products` and `landing products`, the same on every rank.
  static std::int64_t products_bytes(const MatmulBuffers& buffers);
  static std::int64_t landing_bytes(const MatmulBuffers& buffers);

 private:
  int ranks() const { return buffers_.problem.ranks(); }
  int before() const { return (rank_ + ranks() - 1) % ranks(); }
  Region piece(int holder, int number) const {
    return piece_of(summed_.region(holder), *buffers_.ring, number);
  }
  int holder_from(int rank, int distance) const { return (rank + ranks() - distance) % ranks(); }
  /// Of the sum that a rank makes at that distance.
  int taker(int rank, int distance) const {
    return schedule_.ends(distance) ? holder_from(rank, distance) : (rank + 1) % ranks();
  }
  bool puts_to_all(int rank) const;
  bool puts_here(int rank) const;

  void grant();
  void multiply(const Region& region, const Place& made, Beta beta);
  void sum(int distance, int number);
  void sum_own_part();
  void add_to_own(const Region& region, const Part& arrived, bool is_last);
  Part await(int maker, int distance, const Region& region, int number);
  void await_parts();
  Part factor(const Region& of, bool of_a) const;
  Place packed(int buffer, int rank, int slot, int holder, int number) const;
  Place landing(int rank, int distance, int holder, int number) const;

  const MatmulBuffers& buffers_;
  planning::PlanBuilder& builder_;
  int rank_;
  RingSchedule schedule_;
  Layout summed_;
  std::int64_t slot_bytes_;
  LastPass last_pass_;
  planning::PeerPuts puts_;
  std::vector<int> peers_;   // from the one before on
  std::vector<int> takers_;  // of this rank's sums, in their order, until their grants have been waited for
};

}  // namespace partita::multiplication
