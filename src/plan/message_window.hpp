// Private scratch through which the messages of a plan go.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "plan/plan_builder.hpp"

namespace partita {

/// Hands out room, first in first out, in whole cache lines. Room that an older piece takes is free once that
/// piece is popped.
class FifoWindow {
 public:
  static constexpr std::size_t most_pieces = 64;

  static std::int64_t rounded(std::int64_t bytes);  ///< the room that a piece takes

  explicit FifoWindow(std::int64_t bytes) : bytes_(bytes) {}
  bool empty() const { return entries_.empty(); }
  bool fits(std::int64_t bytes) const;
  std::int64_t push(std::int64_t bytes, int id);  ///< its offset; must fit
  int pop();                                      ///< the id of the oldest

 private:
  struct Entry {
    std::int64_t offset;
    std::int64_t bytes;
    int id;
  };
  std::int64_t next_offset(std::int64_t bytes) const;

  std::int64_t bytes_;
  std::int64_t head_ = 0;
  std::deque<Entry> entries_;
};

/// `bytes` of a buffer, from `first` on, in which messages are packed and from which they are sent.
class SendWindow {
 public:
  SendWindow(PlanBuilder& builder, int buffer, std::int64_t first, std::int64_t bytes)
      : builder_(builder), buffer_(buffer), first_(first), window_(bytes) {}

  /// Packs the region in that order of axes and sends it; waits for the oldest messages where room is wanted.
  void send(int peer, Region region, const Place& from, const Extents& order, std::int64_t bytes,
            std::int64_t round = -1);
  /// Of the messages that have not been waited for, which it forgets.
  std::vector<int> unfinished();

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

  ReceiveWindow(PlanBuilder& builder, int buffer, std::int64_t first, std::int64_t bytes)
      : builder_(builder), buffer_(buffer), first_(first), window_(bytes) {}

  bool fits(std::int64_t bytes) const { return window_.fits(bytes); }
  Message receive(int peer, const Extents& order, std::int64_t bytes, std::int64_t round = -1);  ///< must fit
  void pop() { window_.pop(); }  ///< the oldest has been taken out of its place

 private:
  PlanBuilder& builder_;
  int buffer_;
  std::int64_t first_;
  FifoWindow window_;
};

}  // namespace partita
