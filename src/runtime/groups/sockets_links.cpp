#include "runtime/groups/sockets_links.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/check.hpp"

namespace partita::runtime {

SocketsLinks::SocketsLinks(int rank, std::vector<FileDescriptor> sockets)
    : rank_(rank), poll_(::epoll_create1(EPOLL_CLOEXEC)) {
  check<Error>(static_cast<bool>(poll_), "epoll_create1: {}", std::strerror(errno));
  for (FileDescriptor& socket : sockets) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = static_cast<int>(peers_.size());
    const bool watched = !socket || ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket.get(), &event) == 0;
    check<Error>(watched, "epoll_ctl: {}", std::strerror(errno));
    peers_.push_back({SocketsStream(std::move(socket))});
  }
}

std::uint32_t SocketsLinks::begin_room() {
  const std::lock_guard lock(mutex_);
  rooms_[next_room_] = 0;
  return next_room_++;
}

void SocketsLinks::enter(std::uint32_t room) {
  const std::lock_guard lock(mutex_);
  ++rooms_[room];
}

void SocketsLinks::leave(std::uint32_t room, std::int32_t key) noexcept {
  const std::lock_guard lock(mutex_);
  const bool last = --rooms_[room] <= 0;
  if (last) rooms_.erase(room);
  std::erase_if(mailboxes_, [&](const auto& entry) {
    return entry.first.room == room && (last || entry.first.key == key);
  });
}

MessageId SocketsLinks::add(const SocketsAddress& address, bool is_send, const void* data,
                            std::int64_t bytes) {
  const MessageId number = messages_.add();
  Message& message = messages_.at(number);
  message = {};
  message.is_send = is_send;
  message.data = static_cast<std::byte*>(const_cast<void*>(data));  // what is sent is only read
  message.bytes = bytes;
  message.address = address;
  return number;
}

MessageId SocketsLinks::send(const SocketsAddress& to, const void* data, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const MessageId number = add(to, true, data, bytes);
  const std::byte* const from = messages_.at(number).data;
  SocketsFrame frame{.bytes = bytes, .room = to.room, .key = to.key, .message = number, .lane = to.lane};
  if (bytes > longest_eager) {
    frame.kind = SocketsFrameKind::request;
    transmit(to.peer, frame);
  } else if (to.peer == rank_) {
    arrive(rank_, frame, {from, static_cast<std::size_t>(bytes)});
    finish(number, State::complete);
  } else {
    transmit(to.peer, frame, from, bytes, number);
  }
  return number;
}

MessageId SocketsLinks::receive(const SocketsAddress& from, void* data, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const MessageId number = add(from, false, data, bytes);
  Mailbox& mailbox = mailboxes_[from];
  if (mailbox.arrived.empty()) {
    mailbox.receives.push_back(number);
  } else {
    const Arrival arrival = std::move(mailbox.arrived.front());
    mailbox.arrived.pop_front();
    match(from.peer, number, arrival.frame, arrival.kept);
  }
  return number;
}

std::optional<SocketsLinks::Outcome> SocketsLinks::test(MessageId number) {
  const std::lock_guard lock(mutex_);
  const Message& message = messages_.at(number);
  if (message.state == State::pending) make_progress();
  if (message.state == State::pending) return std::nullopt;
  const Outcome outcome{message.state == State::complete, message.bytes_of_peer};
  messages_.remove(number);
  return outcome;
}

/// What a peer may still speak of keeps its number: a large message that was requested or granted.
void SocketsLinks::give_up(MessageId number) noexcept {
  const std::lock_guard lock(mutex_);
  Message& message = messages_.at(number);
  Peer& other = peer(message.address.peer);
  message.given_up = true;
  bool spoken_of = message.state == State::pending && (message.address.peer == rank_ || other.stream.open());
  if (message.is_send) {
    const bool leaves = other.stream.give_up(number);
    if (message.granted || message.bytes <= longest_eager) spoken_of = leaves;
  } else if (!message.granted) {
    const auto mailbox = mailboxes_.find(message.address);
    if (mailbox != mailboxes_.end()) std::erase(mailbox->second.receives, number);
    spoken_of = false;
  }
  if (!spoken_of) messages_.remove(number);
}

void SocketsLinks::progress() {
  const std::lock_guard lock(mutex_);
  make_progress();
}

bool SocketsLinks::closed(int peer) const {
  const std::lock_guard lock(mutex_);
  return peer != rank_ && !peers_[static_cast<std::size_t>(peer)].stream.open();
}

void SocketsLinks::say(const FarewellMessage& message, const std::vector<int>& ranks) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    const SocketsFrame frame{.bytes = sizeof(message), .kind = SocketsFrameKind::farewell};
    for (const int rank : ranks) {
      peer(rank).stream.put_copy(frame, std::as_bytes(std::span(&message, 1)));
      write(peer(rank));
    }
  } catch (const std::exception&) {
    // No memory for it: the ranks of other nodes find out by their deadline.
  }
}

std::vector<Farewell> SocketsLinks::heard(std::uint64_t context) const {
  const std::lock_guard lock(mutex_);
  return heard_.of(context);
}

std::vector<Note> SocketsLinks::take_notes(std::uint64_t context) {
  const std::lock_guard lock(mutex_);
  return heard_.take_notes(context);
}

void SocketsLinks::flush(std::chrono::milliseconds patience) {
  const auto latest = std::chrono::steady_clock::now() + patience;
  const auto unwritten = [this] {
    const std::lock_guard lock(mutex_);
    make_progress();
    return std::any_of(peers_.begin(), peers_.end(),
                       [](const Peer& peer) { return peer.stream.has_unwritten(); });
  };
  while (unwritten() && std::chrono::steady_clock::now() < latest) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void SocketsLinks::transmit(int to, const SocketsFrame& frame, const std::byte* data, std::int64_t bytes,
                            MessageId number) {
  if (to == rank_) return arrive(rank_, frame, {});
  peer(to).stream.put(frame, data, bytes, number);
  write(peer(to));
}

void SocketsLinks::write(Peer& peer) {
  peer.stream.write(written_);
  for (const MessageId number : written_) finish(number, State::complete);
  written_.clear();
}

void SocketsLinks::finish(MessageId number, State state) {
  Message& message = messages_.at(number);
  message.state = state;
  if (message.given_up) messages_.remove(number);
}

}  // namespace partita::runtime
