// From the schedule to the steps.
#pragma once

#include <map>
#include <vector>

#include "plan/message_window.hpp"
#include "plan/slot_ring.hpp"
#include "redistribute/buffers.hpp"
#include "redistribute/schedule.hpp"

namespace partita::redistribution {

/// Writes the steps of one rank.
class Walk {
 public:
  Walk(const Problem& problem, const Method& method, const Staging& staging, PlanBuilder& builder);
  /// `parts` of the exchange `whole`, one after the other; gives the steps at which they begin.
  std::vector<int> run(const Exchange& whole, const std::vector<Exchange>& parts);

 private:
  using enum Channel;

  std::vector<std::vector<Item>> scheduled(const std::vector<Exchange>& parts);
  void open(const Exchange& whole);
  void begin(const Exchange& part);
  void act(Item& item);
  void close(const Exchange& whole);

  void produce(Item& item);
  void consume(Item& item);
  void read(Item& item);
  void write(Item& item);
  void send(Item& item);

  void post(std::size_t message);
  void post_ahead();
  void unpack_oldest();
  void unpack_behind();
  bool too_far_behind() const;

  static Place operand(int buffer, int rank) { return {buffer, rank, 0, {}}; }
  std::int64_t slot(int giver, int taker, std::int64_t round) const;
  void deliver(int owner, int contribution, Region region, const Place& from, std::vector<int> after = {});

  const Problem& problem_;
  const Method& method_;
  const Staging& staging_;
  PlanBuilder& builder_;
  std::vector<int> node_;  // the ranks of this rank's node

  // By peer: pieces that went through its ring, each way, and transfers that it may read or write in place.
  std::map<int, std::int64_t> produced_, consumed_;
  std::map<int, std::int64_t> offered_, written_to_, awaited_;
  SlotRing ring_;

  struct Incoming {
    Item item;
    ReceiveWindow::Message message = {};
  };
  std::vector<Incoming> receives_;  // all messages to this rank, by key
  std::size_t posted_ = 0;          // receives_[0 .. posted_) have been posted,
  std::size_t passed_ = 0;          // [0 .. passed_) of them stand behind the walk,
  std::size_t unpacked_ = 0;        // and [0 .. unpacked_) are done
  std::int64_t behind_bytes_ = 0;   // of [unpacked_ .. passed_)
  SendWindow sending_;              // the first half of the private scratch
  ReceiveWindow receiving_;
};

}  // namespace partita::redistribution
