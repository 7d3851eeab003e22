// From stripes to the steps of one rank.
#pragma once

#include <vector>

#include "matmul/emit/last_pass.hpp"
#include "plan/transfers.hpp"

namespace partita::multiplication {

/// Writes the multiply where the buffers has stripes:
///
///     grant the neighbours this rank's panels (and its D, where they put what they make of it)
///     put to each, stripe after stripe, what it needs of A and B
///     multiply the own indices of k of the stripes that are begun
///     for each stripe: wait for what it needs; multiply the rest, or all; the last pass; put it to all
///     holders wait for what the neighbours put of D
class StripeEmitter {
 public:
  StripeEmitter(const MatmulBuffers& buffers, planning::PlanBuilder& builder);
  void run();

  /// Whether `sums` is used on this rank.
  bool uses_sums() const { return has_tile() && sums_buffer_ == buffers_.sums; }

 private:
  const Tile& tile() const { return buffers_.tile(rank_); }
  bool has_tile() const { return !tile().empty(); }
  Tile stripe(int rank, int number) const { return stripe_of(buffers_.tile(rank), stripes_, number); }
  bool is_put(bool of_a, int number) const { return number == 0 || stripes_.share(of_a); }

  void grant_panels();
  void put_inputs();
  std::vector<planning::Transfer> puts(int giver, int taker, int number) const;
  bool puts_here(int giver, int number) const { return !puts(giver, rank_, number).empty(); }
  std::optional<Region> given(int giver, int taker, int number, bool of_a) const;
  void await_inputs(int number);
  void copy_own(int number);
  void begin(int number);
  void complete(int number);
  bool rounds_in_product() const;
  void multiply(const Tile& of, const IndexSet& depth, bool in_panels, Beta beta, int to);
  Part factor(const Tile& of, const IndexSet& depth, bool in_panels, bool of_a) const;
  void put_result(int number);
  void await_results();

  const MatmulBuffers& buffers_;
  planning::PlanBuilder& builder_;
  const Stripes& stripes_;
  int rank_;
  LastPass last_pass_;
  int sums_buffer_;         // where sums are while there is more to come: D itself, or scratch
  bool c_in_product_;       // the first product onto an element takes beta C in
  IndexSet own_, rest_;     // of k
  std::vector<int> peers_;  // around the ring, beginning with the one that needs this rank's first
  planning::TransferWriter transfers_;
};

}  // namespace partita::multiplication
