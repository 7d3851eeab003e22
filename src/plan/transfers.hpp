// What ranks transfer to each other, as a list, and its lowering to steps.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "plan/message_window.hpp"
#include "plan/peer_memory.hpp"

namespace partita::planning {

/// One end of a transfer, as the rank that lists it handles it. What a peer's end depends on follows from it:
///
///     end      steps of this rank                                         the peer's end
///     keep     copy                                                       none
///     read     wait(ready), copy from the peer, signal(done)              TransferWriter::offer
///     put      wait(grant), copy to the peer, signal(written)             PeerPuts::grant, expect
///     lend     wait(done) for the slot, copy into it, signal(ready)       borrow
///     borrow   wait(ready), copy out of the peer's slot, signal(done)     lend
///     post     receive, here at the latest                                send
///     send     copy into the window, send                                 post
///     unpack   the message of a post may be waited for from here on; copy out of the window
enum class TransferEnd : std::uint8_t { lend, keep, read, put, borrow, post, send, unpack };

/// A region that one rank gives and another takes. Fields that an end does not use are left out.
struct Transfer {
  TransferEnd end = TransferEnd::keep;
  int peer = 0;                             ///< the rank at the other end; of `keep` this rank
  Region region = {};                       ///< in the index space of this rank's side; none of `unpack`
  Place from = {};                          ///< where the giver has it: of keep, read, put, lend, send
  Place to = {};                            ///< where the taker wants it: of keep, read, put, borrow, post
  std::optional<Reduction> reduction = {};  ///< reduces it with what is in `to`; nothing: replaces that
  std::int64_t slot = -1;                   ///< of the giver's ring: of lend and borrow
  std::int64_t round = -1;                  ///< of messages (Step::round)
  /// Of read and put: the first and the last of those that are announced together.
  bool first = true, last = true;
};

/// A transfer and its key, which is the same at both of its ends and by which all ranks order their lists.
struct KeyedTransfer {
  std::array<std::int64_t, 5> key = {};
  Transfer transfer = {};
};
/// Those of equal keys stay in their order.
std::vector<Transfer> sorted_by_key(std::vector<KeyedTransfer> transfers);

/// Sets `first` and `last`: one signal before all, and one after all.
void announce_together(std::span<Transfer> transfers);

/// What transfers pass through.
struct TransferScratch {
  Extents order;                                   ///< of the dimensions of what is packed
  std::int64_t item_bytes = 1;                     ///< of an element
  int ring = -1;                                   ///< shared: slots that peers of the node read
  std::int64_t slots = 0, slot_bytes = 0;          ///< of `ring`
  int messages = -1;                               ///< private: what is sent, behind it what is received,
  std::int64_t messages_at = 0;                    ///< from this byte on,
  std::int64_t send_bytes = 0, receive_bytes = 0;  ///< so many bytes each
  std::size_t most_messages = FifoWindow::most_pieces;  ///< in flight, each way
};

/// How a writer handles what is taken.
struct TransferPolicy {
  bool posts_ahead = false;  ///< receives are posted as soon as there is room
  bool in_order = false;     ///< what is taken is delivered in the order of the list
};

/// A message to this rank, and where it arrives.
struct ExpectedMessage {
  Transfer transfer = {};
  std::int64_t bytes = 0;
  ReceiveWindow::Message message = {};
};

/// Lowers lists to steps, in their order. A step waits only for steps of smaller keys at other ranks, or for
/// its own other end, which comes first if keys are equal. So the rank at the smallest key can always
/// continue: no deadlock, whatever is transferred.
class TransferWriter {
 public:
  explicit TransferWriter(PlanBuilder& builder, const TransferScratch& scratch = {},
                          TransferPolicy policy = {});

  PeerPuts& puts() { return puts_; }
  /// The peer may read this rank's memory, once more.
  void offer(int reader) {
    builder_.signal(reader, Channel::ready);
    offered_.add(reader, 1);
  }

  /// Notes the messages of a list that will be written after those noted before.
  void expect(std::vector<Transfer>& list);
  void post_ahead();
  void write(std::vector<Transfer> list);
  /// Delivers what is still to come, and waits until the peers have finished with this rank's memory.
  void close();

 private:
  static constexpr std::size_t most_behind = 32;  // messages that nothing has waited for yet

  struct Lent {
    int taker = -1;
    std::int64_t number = 0;  // of the taker's signal that the slot is free again
  };

  void write(Transfer& transfer);
  void lend(Transfer& transfer);
  void drain();
  Place slot(int giver, std::int64_t number) const {
    return {scratch_.ring, giver, number * scratch_.slot_bytes, scratch_.order};
  }
  void post();
  void post_next();
  void unpack_oldest();
  void unpack_behind();
  bool too_far_behind() const;
  std::int64_t bytes(const Region& region) const { return region.size() * scratch_.item_bytes; }

  PlanBuilder& builder_;
  TransferScratch scratch_;
  TransferPolicy policy_;
  PeerPuts puts_;
  PeerCounts offered_;                 // to readers
  std::vector<Lent> lent_;             // by slot
  std::map<int, std::int64_t> given_;  // pieces in slots, by taker
  SendWindow sending_;
  ReceiveWindow receiving_;
  std::vector<ExpectedMessage> receives_;  // all messages to this rank, in their order
  std::size_t due_ = 0;                    // receives_[0 .. due_) had to be posted,
  std::size_t posted_ = 0;                 // [0 .. posted_) have been,
  std::size_t passed_ = 0;                 // [0 .. passed_) may be waited for,
  std::size_t unpacked_ = 0;               // and [0 .. unpacked_) are done
  std::int64_t behind_bytes_ = 0;          // of [unpacked_ .. passed_)
};

/// Messages in groups (Plan::grouped): piece k of all transfers in round k, so that a transport may enqueue a
/// round on a stream as one group of sends and receives.
///
///     for each round k:  pack pieces k;  group k;  unpack pieces k - 1
///
/// Messages of a round are in one half of private scratch, those of the next in the other: while group k is
/// in flight, pieces k + 1 are packed and pieces k - 1 unpacked.
class GroupWriter {
 public:
  /// `half_bytes`: of what is sent in a round, and of what is received; `halves`: 1 or 2.
  GroupWriter(PlanBuilder& builder, const TransferScratch& scratch, std::int64_t half_bytes,
              std::int64_t halves);

  /// `given`: ends of kind send; `taken`: post, and keep for what this rank adds to the others'.
  void write(std::vector<Transfer> given, std::vector<Transfer> taken, std::int64_t round);
  void close();

 private:
  std::vector<ExpectedMessage> receive(std::vector<Transfer> taken, std::int64_t round);
  void send(std::vector<Transfer> given, std::int64_t round);
  void unpack();
  Place place(std::int64_t part, std::int64_t& used, std::int64_t bytes) const;
  std::int64_t bytes(const Region& region) const { return region.size() * scratch_.item_bytes; }

  PlanBuilder& builder_;
  TransferScratch scratch_;
  std::int64_t half_bytes_, halves_;
  std::int64_t half_ = 0;                 // of the current round
  std::vector<ExpectedMessage> arrived_;  // in the previous round
  std::vector<int> sent_[2];              // from each half, not waited for
};

}  // namespace partita::planning
