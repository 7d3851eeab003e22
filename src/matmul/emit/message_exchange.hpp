// Pieces of A and B, and products, that pass between nodes.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "matmul/emit/cutting.hpp"
#include "matmul/emit/grouped_exchange.hpp"
#include "plan/message_window.hpp"

namespace partita::multiplication {

/// One product that is added to a sum.
struct Contribution {
  int rank = 0;              ///< that made it
  std::int64_t offset = -1;  ///< in that rank's `products`; negative: this rank has made it in place
};

/// The products of one region, this rank's own first, then by distance from it.
struct Sum {
  Region region;
  std::vector<Contribution> contributions;

  bool begun_in_place() const { return !contributions.empty() && contributions.front().offset < 0; }
};

/// What a rank has to add up, ordered by front; the same order in which each contributor lists its products.
struct Sums {
  std::vector<Sum> sums;
  /// Regions of different contributors overlap in part: then each sum is one contribution, and all are added
  /// to zero.
  bool irregular = false;
};
Sums sums_of(const MatmulBuffers& buffers, Cutting& cutting, const std::vector<BlockProduct>& own);

/// Writes the messages of one rank. Operands: the receives of turn t are posted before anything of turn t is
/// sent, one turn ahead of the multiplication; a rank that stands at the smallest turn of all has been sent
/// everything that it waits for. Products follow when all operands have been sent.
///
/// Where messages go in groups (GroupedExchange), every message of two turns has its own room, so has every
/// product that arrives, and nothing is waited for inside a round.
class MessageExchange {
 public:
  MessageExchange(const MatmulBuffers& buffers, planning::PlanBuilder& builder, Cutting& cutting,
                  const Blocks& blocks);

  bool grouped() const { return buffers_.problem.grouped(); }
  std::size_t turns() const { return gives_.size(); }  ///< in which this rank gives something
  /// Posts the receives of what this rank needs in its turn t, and sends what others need in theirs.
  void exchange(std::size_t t);
  /// The place of the piece of that number, which another node gave for k-step t; the message to wait for, if
  /// there is one, is added to `after` the first time.
  Place place_of(std::size_t t, bool of_a, std::size_t number, std::vector<int>& after);

  /// In groups: how many of its k-step's rounds must arrive before the piece is there; 0: it is stored here.
  int arrival(std::size_t t, bool of_a, std::size_t number) const;

  /// The place of A's or B's panel of k-step t, which has one; what arrives is stored in it.
  Place panel(std::size_t t, bool of_a) const;

  /// Sends this rank's products to other nodes.
  void send_products(const std::vector<BlockProduct>& products);
  /// In groups, when all products for holders that are nearer than `distance` have been made: rounds of
  /// products up to there. Those that arrive have been listed.
  void deliver_before(const std::vector<BlockProduct>& products, int distance);
  /// Lists what will arrive, in the order in which it will be taken.
  void expect_products(const Sums& sums);
  /// The next product that was expected, of that region.
  Place take_product(const Region& region, std::vector<int>& after);
  /// All that was sent must be complete at the end.
  void finish();

  /// Scratch that is used, in bytes; at its end.
  std::int64_t arriving_bytes() const {
    return (grouped() && needs_.size() < 2 ? 1 : 2) * slot_bytes_ + panel_bytes_;
  }
  std::int64_t leaving_bytes() const { return window_bytes_; }
  std::int64_t arriving_products_bytes() const { return products_window_bytes_; }
  std::int64_t leaving_products_bytes() const { return leaving_products_bytes_; }

 private:
  struct Message {
    int peer = 0;
    bool of_a = true;
    std::size_t number = 0;  // of the piece
    Region region;
    Extents order;  // in which it is packed
    std::int64_t bytes = 0;
    std::int64_t offset = 0;  // in its slot
    int step = -1;            // that receives it
    bool awaited = false;
    bool is_packed = false;  // by an earlier message
  };
  struct Arriving {
    int peer = 0;
    std::int64_t bytes = 0;
    planning::ReceiveWindow::Message message = {};
  };

  using Given = std::vector<std::pair<std::size_t, std::size_t>>;  // turns, and the pieces along k in them

  void list_needs(const Blocks& blocks);
  std::int64_t list_needs(const Blocks& blocks, std::size_t t, bool of_a, std::int64_t offset);
  void list_gives(Cutting& cutting);
  void list_gives_to(int taker, const Blocks& blocks, bool of_a, const OwnPart& own);
  const Given& given(const Blocks& blocks, bool of_a, const IndexSet& depth);
  Place slot(std::size_t t, const Message& message) const;
  Extents order(bool of_a, Panel panel) const;
  Place landed(const Place& message, int buffer) const;
  void land(int peer, const Region& region, const Place& message, int buffer, int step,
            std::vector<int>& after);
  std::int64_t rounded(std::int64_t bytes) const;
  void size_scratch();
  void place_turns();
  void receive(std::size_t t, int round);
  void send_round(std::size_t t, int round, std::vector<int>& before);
  void deliver(const std::vector<BlockProduct>& products, int round);
  void place_products();
  void send(std::size_t t);
  void send(const BlockProduct& product, std::int64_t round);
  void post_products();

  const MatmulBuffers& buffers_;
  planning::PlanBuilder& builder_;
  GroupedExchange rounds_;
  std::vector<std::vector<Message>> needs_;  // by turn of this rank
  std::vector<std::vector<Message>> gives_;  // by turn of the taker
  std::map<std::pair<std::shared_ptr<const Turns>, bool>, Given> given_;
  std::array<std::vector<int>, 2> givers_;  // of the last pieces of A and B that were looked at
  std::vector<std::array<std::int64_t, 2>>
      panels_;                    // by turn: where the panels of A and B begin in their slot
  Panels kinds_{};                // of A and B
  std::int64_t slot_bytes_ = 0;   // of one turn's receives
  std::int64_t panel_bytes_ = 0;  // of panels for which nothing is received
  std::int64_t window_bytes_ = 0;
  std::int64_t half_bytes_ = 0;  // of the window, in groups: for a turn
  std::int64_t products_window_bytes_ = 0;
  std::int64_t leaving_products_bytes_ = 0;
  std::optional<planning::SendWindow> sending_;
  std::optional<planning::ReceiveWindow> receiving_products_;
  std::vector<int> unfinished_;           // sends that hold no room in the window
  std::array<std::vector<int>, 2> sent_;  // in groups, from each half of the window
  int delivered_ = 0;                     // rounds of products
  std::vector<Arriving> products_;
  std::size_t posted_ = 0;
  std::size_t next_ = 0;
};

}  // namespace partita::multiplication
