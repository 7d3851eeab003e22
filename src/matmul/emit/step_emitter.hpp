// From blocks to the steps of one rank.
#pragma once

#include <array>
#include <set>
#include <vector>

#include "matmul/emit/last_pass.hpp"
#include "matmul/emit/message_exchange.hpp"
#include "matmul/emit/put_exchange.hpp"

namespace partita::multiplication {

/// Writes the multiply itself: buffers are there already, A, B, C and the epilogue's arrays have the layouts
/// of the buffers.
///
///     notify the peers of the node that they may read, or put to them what they need
///     for each turn t:  send and receive what turn t + 1 needs;  multiply the blocks of turn t
///     add up the products of other ranks, with the epilogue in the last pass
///     wait until the peers have read everything
class StepEmitter {
 public:
  StepEmitter(const MatmulBuffers& buffers, planning::PlanBuilder& builder);
  void run();

  const MessageExchange& messages() const { return messages_; }
  /// Whether `sums` is used on this rank.
  bool uses_sums() const { return sums_buffer_ == buffers_.sums; }

 private:
  // An owner's operands may be read (ready), and have been (done); then a rank's products, in the same way.
  using enum planning::Channel;

  void open();
  void publish(const Input& input, const Region& own, std::vector<Region> read);
  void zero();
  bool joins_panel() const;
  bool rounds_in_product() const;
  void turn(std::size_t t);
  std::size_t piece_number(bool of_a, const BlockProduct& product) const;
  std::vector<const BlockProduct*> order_of(std::size_t t) const;
  Place readable(const Input& input, int owner);
  Part part_of(std::size_t t, bool of_a, const BlockProduct& product, const std::vector<Piece>& pieces,
               std::vector<int>& after);
  Part part_of_panel(std::size_t t, bool of_a, const BlockProduct& product) const;
  void gather_panel(std::size_t t, bool of_a, const std::vector<Piece>& pieces, std::vector<int>& after);
  Part target(const BlockProduct& product) const;
  Beta beta_of(const BlockProduct& product, std::size_t t) const;
  void multiply(Multiply work, bool complete, std::vector<int> after);
  int turn_of(int holder) const;
  bool join(const Multiply& next, const BlockProduct& before, const BlockProduct& product);
  void announce(int holder);
  void close();

  // step_emitter_sums.cpp
  void gather();
  void gather_sum(const Sum& sum);
  Place place_of_product(const Contribution& from, std::int64_t first) const;
  void add(const Region& piece, int maker, const Place& from, bool first, std::vector<int> after);

  const MatmulBuffers& buffers_;
  planning::PlanBuilder& builder_;
  int rank_;
  Cutting cutting_;
  Blocks blocks_;
  std::vector<BlockProduct> products_;      // by distance of the holder, this rank's own last
  std::vector<BlockProduct> whole_;         // all of them as one, where one multiply makes them of a panel
  std::array<std::vector<int>, 2> givers_;  // of the last turn's pieces of A and B
  Sums sums_;
  MessageExchange messages_;
  PutExchange puts_;
  LastPass last_pass_;
  int sums_buffer_;           // where this rank adds up: D itself, or scratch
  bool c_in_product_;         // the first product onto an element takes beta C in
  std::set<int> waited_for_;  // owners whose operands may be read
  std::set<int> readers_;     // peers of the node that read this rank's operands
  std::set<int> takers_;      // that read this rank's products
};

}  // namespace partita::multiplication
