#include "plan/message_window.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace partita {
std::int64_t FifoWindow::rounded(std::int64_t bytes) {
  constexpr std::int64_t line = 64;
  return (bytes + line - 1) / line * line;
}

std::int64_t FifoWindow::next_offset(std::int64_t bytes) const {
  return head_ + rounded(bytes) <= bytes_ ? head_ : 0;
}

bool FifoWindow::fits(std::int64_t bytes) const {
  if (entries_.size() >= most_pieces) return false;
  const std::int64_t first = next_offset(bytes);
  const std::int64_t last = first + rounded(bytes);
  return std::none_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.offset < last && first < entry.offset + entry.bytes;
  });
}

std::int64_t FifoWindow::push(std::int64_t bytes, int id) {
  invariant(fits(bytes) && rounded(bytes) <= bytes_, "a message of {} bytes does not fit the window", bytes);
  const std::int64_t offset = next_offset(bytes);
  entries_.push_back({offset, rounded(bytes), id});
  head_ = offset + rounded(bytes);
  return offset;
}

int FifoWindow::pop() {
  const int id = entries_.front().id;
  entries_.pop_front();
  return id;
}

void SendWindow::send(int peer, Region region, const Place& from, const Extents& order, std::int64_t bytes,
                      std::int64_t round) {
  std::vector<int> after;
  while (!window_.fits(bytes)) after.push_back(window_.pop());
  const int send = static_cast<int>(builder_.plan().steps.size()) + 1;  // behind its packing
  const Place packed{buffer_, builder_.rank(), first_ + window_.push(bytes, send), order};
  builder_.copy(builder_.rank(), std::move(region), from, packed, std::move(after));
  builder_.send(peer, packed, bytes, round);
}

std::vector<int> SendWindow::unfinished() {
  std::vector<int> messages;
  while (!window_.empty()) messages.push_back(window_.pop());
  return messages;
}

ReceiveWindow::Message ReceiveWindow::receive(int peer, const Extents& order, std::int64_t bytes,
                                              std::int64_t round) {
  const Place place{buffer_, builder_.rank(), first_ + window_.push(bytes, 0), order};
  return {place, builder_.receive(peer, place, bytes, round)};
}

}  // namespace partita
