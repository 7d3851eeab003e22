// Private scratch through which the messages of a plan go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/round.hpp"
#include "plan/plan_builder.hpp"

namespace partita::planning {

/// Hands out room, first in first out, in whole cache lines. Room that an older piece takes is free once that
/// piece is popped.
class FifoWindow {
 public:
  static constexpr std::size_t most_pieces = 64;

  /// The room that a piece takes.
  static std::int64_t rounded(std::int64_t bytes) { return round_up(bytes, 64); }

  explicit FifoWindow(std::int64_t bytes, std::size_t most = most_pieces) : bytes_(bytes), most_(most) {}
  bool empty() const { return entries_.empty(); }
  bool fits(std::int64_t bytes) const {
    if (entries_.size() >= most_) return false;
    const std::int64_t first = next_offset(bytes);
    const std::int64_t last = first + rounded(bytes);
    return std::none_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.offset < last && first < entry.offset + entry.bytes;
    });
  }
  /// Its offset; must fit.
  std::int64_t push(std::int64_t bytes, int id) {
    invariant(fits(bytes) && rounded(bytes) <= bytes_, "a message of {} bytes does not fit the window",
              bytes);
    const std::int64_t offset = next_offset(bytes);
    entries_.push_back({offset, rounded(bytes), id});
    head_ = offset + rounded(bytes);
    return offset;
  }
  /// The id of the oldest.
  int pop() {
    const int id = entries_.front().id;
    entries_.pop_front();
    return id;
  }

 private:
  struct Entry {
    std::int64_t offset;
    std::int64_t bytes;
    int id;
  };
  std::int64_t next_offset(std::int64_t bytes) const { return head_ + rounded(bytes) <= bytes_ ? head_ : 0; }

  std::int64_t bytes_;
  std::size_t most_;
  std::int64_t head_ = 0;
  std::deque<Entry> entries_;
};

/// `bytes` of a buffer, from `first` on, in which messages are packed and from which they are sent.
class SendWindow {
 public:
  SendWindow(PlanBuilder& builder, int buffer, std::int64_t first, std::int64_t bytes,
             std::size_t most_messages = FifoWindow::most_pieces)
      : builder_(builder), buffer_(buffer), first_(first), window_(bytes, most_messages) {}

  /// Packs the region in that order of axes and sends it; waits for the oldest messages if there is no room.
  void send(int peer, Region region, const Place& from, const Extents& order, std::int64_t bytes,
            std::int64_t round = -1) {
    std::vector<int> after;
    while (!window_.fits(bytes)) after.push_back(window_.pop());
    const int send = static_cast<int>(builder_.plan().steps.size()) + 1;  // behind its packing
    const Place packed{buffer_, builder_.rank(), first_ + window_.push(bytes, send), order};
    builder_.copy(builder_.rank(), std::move(region), from, packed, std::move(after));
    builder_.send(peer, packed, bytes, round);
  }
  /// Of the messages that have not been waited for, which it forgets.
  std::vector<int> unfinished() {
    std::vector<int> messages;
    while (!window_.empty()) messages.push_back(window_.pop());
    return messages;
  }

 private:
  PlanBuilder& builder_;
  int buffer_;
  std::int64_t first_;
  FifoWindow window_;
};

/// `bytes` of a buffer, from `first` on, into which messages are received.
class ReceiveWindow {
 public:
  struct Message {
    Place place;
    int step = -1;  ///< the receive, to be waited for
  };

  ReceiveWindow(PlanBuilder& builder, int buffer, std::int64_t first, std::int64_t bytes,
                std::size_t most_messages = FifoWindow::most_pieces)
      : builder_(builder), buffer_(buffer), first_(first), window_(bytes, most_messages) {}

  bool fits(std::int64_t bytes) const { return window_.fits(bytes); }
  /// Must fit.
  Message receive(int peer, const Extents& order, std::int64_t bytes, std::int64_t round = -1) {
    const Place place{buffer_, builder_.rank(), first_ + window_.push(bytes, 0), order};
    return {place, builder_.receive(peer, place, bytes, round)};
  }
  void pop() { window_.pop(); }  ///< the oldest has been taken out of its place

 private:
  PlanBuilder& builder_;
  int buffer_;
  std::int64_t first_;
  FifoWindow window_;
};

}  // namespace partita::planning
