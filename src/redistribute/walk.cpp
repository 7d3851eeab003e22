#include "redistribute/walk.hpp"

#include <algorithm>
#include <map>

#include "plan/message_window.hpp"
#include "plan/slot_ring.hpp"
#include "redistribute/schedule.hpp"

namespace partita::redistribution {
namespace {

constexpr std::size_t most_behind = 32;  // messages that have been waited for by nobody yet

class Walk {
 public:
  Walk(const Problem& problem, const Method& method, const Staging& staging, planning::PlanBuilder& builder)
      : problem_(problem),
        method_(method),
        staging_(staging),
        builder_(builder),
        ring_(builder, shared_buffer, staging.chunk == 0 ? 0 : staging.shared_bytes / staging.chunk,
              staging.chunk),
        sending_(builder, private_buffer, 0, staging.window),
        receiving_(builder, private_buffer, staging.window, staging.window) {
    if (method.uses_staging()) node_ = problem.topology.node_ranks(problem.topology.node(problem.rank));
  }

  std::vector<int> run(const Exchange& whole, const std::vector<Exchange>& parts) {
    std::vector<std::vector<Item>> items = scheduled(parts);
    std::vector<int> begins;
    open(whole);
    post_ahead();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      begins.push_back(static_cast<int>(builder_.plan().steps.size()));
      begin(parts[i]);
      for (Item& item : items[i]) act(item);
    }
    while (unpacked_ < passed_) unpack_oldest();
    close(whole);
    return begins;
  }

 private:
  using enum planning::Channel;

  // What a message carries is kept with its receive; the walk itself needs only to know when to unpack.
  std::vector<std::vector<Item>> scheduled(const std::vector<Exchange>& parts) {
    std::vector<std::vector<Item>> result;
    std::size_t steps = 8;
    for (const Exchange& part : parts) {
      result.push_back(schedule(problem_, method_, staging_, part));
      steps += 2 * result.back().size() + 2 * part.outgoing.size();
      for (Item& item : result.back()) {
        if (item.action == Action::post) receives_.push_back({std::move(item)});
      }
    }
    builder_.plan().steps.reserve(steps);
    return result;
  }

  bool is_pushed_by(int giver) const {
    return giver != problem_.rank && method_.between(problem_, giver) == RedistributeMethod::pushed;
  }

  // Nobody waits before all its peers have been told that they may start.
  void open(const Exchange& whole) {
    for (const Transfer& transfer : whole.incoming) {
      if (is_pushed_by(transfer.peer)) builder_.signal(transfer.peer, grant);
    }
  }

  void begin(const Exchange& part) {
    for (const Transfer& transfer : part.outgoing) {
      if (!Method::reads(method_.between(problem_, transfer.peer))) continue;
      builder_.signal(transfer.peer, ready);
      ++offered_[transfer.peer];
    }
    for (const Transfer& transfer : part.incoming) {
      if (is_pushed_by(transfer.peer)) ++awaited_[transfer.peer];
    }
    if (!part.identity) return;
    builder_.fill(problem_.destination.layout.partial()->reduction, *part.identity,
                  builder_.own(destination_buffer));
  }

  void act(Item& item) {
    switch (item.action) {
      case Action::produce:
        return produce(item);
      case Action::own:
        unpack_behind();
        return take_in(item, problem_.rank, builder_.own(source_buffer));
      case Action::read:
        unpack_behind();
        return read(item);
      case Action::write:
        return write(item);
      case Action::consume:
        unpack_behind();
        return consume(item);
      case Action::post:
        return post(passed_);
      case Action::send:
        return send(item);
      case Action::unpack:
        behind_bytes_ += problem_.bytes(item.region);
        ++passed_;
        while (too_far_behind()) unpack_oldest();
        return post_ahead();
    }
  }

  // The call is over when the peers have finished with this rank's source and slots, and its destination is
  // whole.
  void close(const Exchange& whole) {
    for (const Transfer& transfer : whole.outgoing) {
      const auto offered = offered_.find(transfer.peer);
      if (offered != offered_.end()) builder_.wait(transfer.peer, done, offered->second);
    }
    ring_.drain();
    for (const Transfer& transfer : whole.incoming) {
      const auto awaited = awaited_.find(transfer.peer);
      if (awaited != awaited_.end()) builder_.wait(transfer.peer, written, awaited->second);
    }
    builder_.finish(sending_.unfinished());
  }

  void take_in(Item& item, int owner, const Place& from, std::vector<int> after = {}) {
    deliver(problem_, owner, item.contribution, std::move(item.region), from, std::move(after), builder_);
  }

  // --- inside a node

  // The ring of the pair (giver -> taker) lies in the giver's staging.
  std::int64_t slot(int giver, int taker, std::int64_t round) const {
    const auto local = [&](int rank) {
      return static_cast<std::int64_t>(std::lower_bound(node_.begin(), node_.end(), rank) - node_.begin());
    };
    const auto ranks = static_cast<std::int64_t>(node_.size());
    const std::int64_t ring = (local(taker) - local(giver) - 1 + ranks) % ranks;
    return ring * staging_.slots + round % staging_.slots;
  }

  void produce(Item& item) {
    const std::int64_t number = slot(problem_.rank, item.peer, produced_[item.peer]++);
    ring_.give(item.peer, number, std::move(item.region), builder_.own(source_buffer),
               problem_.source.axis_order);
  }

  void consume(Item& item) {
    const std::int64_t number = slot(item.peer, problem_.rank, consumed_[item.peer]++);
    take_in(item, item.peer, ring_.take(item.peer, number, problem_.source.axis_order));
    ring_.taken(item.peer);
  }

  void read(Item& item) {
    if (item.round == 0) builder_.wait(item.peer, ready);
    take_in(item, item.peer, {source_buffer, item.peer, 0, {}});
    if (item.round + 1 == item.rounds) builder_.signal(item.peer, done);
  }

  void write(Item& item) {
    if (item.round == 0 && written_to_[item.peer]++ == 0) builder_.wait(item.peer, grant);
    builder_.copy(problem_.rank, std::move(item.region), builder_.own(source_buffer),
                  {destination_buffer, item.peer, 0, {}});
    if (item.round + 1 == item.rounds) builder_.signal(item.peer, written);
  }

  // --- messages: what is sent lies in the first half of the private scratch, what is received in the second

  void send(Item& item) {
    const std::int64_t bytes = problem_.bytes(item.region);
    sending_.send(item.peer, std::move(item.region), builder_.own(source_buffer), problem_.source.axis_order,
                  bytes);
  }

  // Where the walk passes a message's key it must be posted, if need be after unpacking older ones.
  void post(std::size_t message) {
    while (posted_ <= message) {
      const std::int64_t bytes = problem_.bytes(receives_[posted_].item.region);
      while (!receiving_.fits(bytes)) unpack_oldest();
      post_ahead();
    }
  }

  void post_ahead() {
    for (; posted_ < receives_.size(); ++posted_) {
      Incoming& next = receives_[posted_];
      const std::int64_t bytes = problem_.bytes(next.item.region);
      if (!receiving_.fits(bytes)) return;
      next.message = receiving_.receive(next.item.peer, problem_.source.axis_order, bytes);
    }
  }

  void unpack_oldest() {
    Incoming& oldest = receives_[unpacked_++];
    receiving_.pop();
    behind_bytes_ -= problem_.bytes(oldest.item.region);
    take_in(oldest.item, oldest.item.peer, oldest.message.place, {oldest.message.step});
  }

  // Half of the room is for messages that may arrive ahead of the walk, half for those that may be late.
  bool too_far_behind() const {
    return 2 * behind_bytes_ > staging_.window || passed_ - unpacked_ > most_behind;
  }

  // What is accumulated out of turn would make the result depend on the distribution.
  void unpack_behind() {
    while (problem_.accumulates && unpacked_ < passed_) unpack_oldest();
  }

  const Problem& problem_;
  const Method& method_;
  const Staging& staging_;
  planning::PlanBuilder& builder_;
  std::vector<int> node_;  // the ranks of this rank's node

  // By peer: pieces that went through its ring, each way, and transfers that it may read or write in place.
  std::map<int, std::int64_t> produced_, consumed_;
  std::map<int, std::int64_t> offered_, written_to_, awaited_;
  planning::SlotRing ring_;

  struct Incoming {
    Item item;
    planning::ReceiveWindow::Message message = {};
  };
  std::vector<Incoming> receives_;  // all messages to this rank, by key
  std::size_t posted_ = 0;          // receives_[0 .. posted_) have been posted,
  std::size_t passed_ = 0;          // [0 .. passed_) of them stand behind the walk,
  std::size_t unpacked_ = 0;        // and [0 .. unpacked_) are done
  std::int64_t behind_bytes_ = 0;   // of [unpacked_ .. passed_)
  planning::SendWindow sending_;    // the first half of the private scratch
  planning::ReceiveWindow receiving_;
};

}  // namespace

std::vector<int> walk(const Problem& problem, const Method& method, const Staging& staging,
                      const Exchange& whole, const std::vector<Exchange>& parts,
                      planning::PlanBuilder& builder) {
  return Walk(problem, method, staging, builder).run(whole, parts);
}

void deliver(const Problem& problem, int owner, int contribution, Region region, const Place& from,
             std::vector<int> after, planning::PlanBuilder& builder) {
  const Place to = builder.own(destination_buffer);
  if (!problem.accumulates || contribution == 0) {
    builder.copy(owner, std::move(region), from, to, std::move(after));
  } else {
    builder.accumulate(owner, problem.source.layout.partial()->reduction, std::move(region), from, to,
                       std::move(after));
  }
}

}  // namespace partita::redistribution
