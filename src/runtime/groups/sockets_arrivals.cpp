// What comes in by the connections.
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "runtime/groups/sockets_links.hpp"

namespace partita::runtime {
namespace {

/// Of one connection at a time, so that those of other ranks are not kept waiting.
constexpr int reads_at_once = 16;

SocketsAddress address_of(const SocketsFrame& frame, int from) {
  return {frame.room, frame.key, frame.lane, from};
}

}  // namespace

void SocketsLinks::make_progress() {
  for (Peer& peer : peers_) {
    if (peer.stream.has_unwritten()) write(peer);
  }
  std::array<epoll_event, 64> events{};
  const int ready = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < ready; ++i) read(events[static_cast<std::size_t>(i)].data.fd);
}

void SocketsLinks::read(int from) {
  SocketsStream& stream = peer(from).stream;
  bool more = true;
  for (int turn = 0; more && turn < reads_at_once; ++turn) {
    more = pour(peer(from)) || stream.fill();
    parse(from);
  }
  if (!stream.open()) ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, stream.descriptor(), nullptr);
}

/// What of a large message the kernel has, straight into the buffer of its receive.
bool SocketsLinks::pour(Peer& peer) {
  if (peer.piece_left == 0) return false;
  const Message& message = messages_.at(peer.piece.receive);
  if (message.given_up) return false;
  const std::size_t bytes =
      peer.stream.read(message.data + message.moved, static_cast<std::size_t>(peer.piece_left));
  count_piece(peer, bytes);
  return bytes > 0;
}

/// All that was taken in, but for the last frame where it is not there whole.
void SocketsLinks::parse(int from) {
  Peer& sender = peer(from);
  while (true) {
    take_piece(sender);
    const Payload arrived = sender.stream.arrived();
    SocketsFrame frame;
    if (sender.piece_left > 0 || arrived.size() < sizeof(frame)) return;
    std::memcpy(&frame, arrived.data(), sizeof(frame));
    check<Error>(frame.mark == SocketsFrame::expected_mark,
                 "rank {} of the job sent a malformed message (not the Partita protocol, or another version)",
                 from);
    if (frame.kind == SocketsFrameKind::data) {
      sender.stream.consume(sizeof(frame));
      begin_piece(from, frame);
      continue;
    }
    const auto payload = static_cast<std::size_t>(frame.payload());
    check<Error>(payload <= longest_eager, "rank {} of the job sent a truncated message of {} bytes", from,
                 payload);
    if (arrived.size() < sizeof(frame) + payload) return;
    arrive(from, frame, arrived.subspan(sizeof(frame), payload));
    sender.stream.consume(sizeof(frame) + payload);
  }
}

void SocketsLinks::begin_piece(int from, const SocketsFrame& frame) {
  const Message& message = messages_.at(frame.receive);
  invariant(!message.is_send && message.granted && message.address.peer == from &&
                frame.bytes <= message.bytes - message.moved,
            "rank {} of the job sent a piece of {} bytes that was not granted", from, frame.bytes);
  peer(from).piece = frame;
  peer(from).piece_left = frame.bytes;
}

/// What of a large message was taken in together with what came before it.
void SocketsLinks::take_piece(Peer& peer) {
  const Payload arrived = peer.stream.arrived();
  const std::size_t bytes = std::min(arrived.size(), static_cast<std::size_t>(peer.piece_left));
  if (bytes == 0) return;
  const Message& message = messages_.at(peer.piece.receive);
  if (!message.given_up) std::memcpy(message.data + message.moved, arrived.data(), bytes);
  peer.stream.consume(bytes);
  count_piece(peer, bytes);
}

void SocketsLinks::count_piece(Peer& peer, std::size_t bytes) {
  Message& message = messages_.at(peer.piece.receive);
  message.moved += static_cast<std::int64_t>(bytes);
  peer.piece_left -= static_cast<std::int64_t>(bytes);
  if (message.moved == message.bytes) finish(peer.piece.receive, State::complete);
}

void SocketsLinks::arrive(int from, const SocketsFrame& frame, Payload payload) {
  switch (frame.kind) {
    case SocketsFrameKind::eager:
    case SocketsFrameKind::request:
      return arrive_message(from, frame, payload);
    case SocketsFrameKind::grant:
      return start_data(from, frame);
    case SocketsFrameKind::refusal:
      messages_.at(frame.message).bytes_of_peer = frame.bytes;
      return finish(frame.message, State::misfit);
    case SocketsFrameKind::farewell: {
      FarewellMessage farewell;
      invariant(payload.size() == sizeof(farewell), "a farewell of {} bytes", payload.size());
      std::memcpy(&farewell, payload.data(), sizeof(farewell));
      return heard_.add(farewell);
    }
    case SocketsFrameKind::data:
      break;  // is passed directly to its receive
  }
}

/// A message for a room that was left is not received any more; one for a room not yet begun is kept.
void SocketsLinks::arrive_message(int from, const SocketsFrame& frame, Payload payload) {
  if (frame.room < next_room_ && !rooms_.contains(frame.room)) return;
  Mailbox& mailbox = mailboxes_[address_of(frame, from)];
  if (mailbox.receives.empty()) {
    mailbox.arrived.push_back({frame, {payload.begin(), payload.end()}});
    return;
  }
  const MessageId receive = mailbox.receives.front();
  mailbox.receives.pop_front();
  match(from, receive, frame, payload);
}

void SocketsLinks::match(int from, MessageId number, const SocketsFrame& frame, Payload payload) {
  Message& receive = messages_.at(number);
  receive.bytes_of_peer = frame.bytes;
  const bool fits = frame.bytes == receive.bytes;
  if (frame.kind == SocketsFrameKind::eager) {
    if (fits && !payload.empty()) std::memcpy(receive.data, payload.data(), payload.size());
    return finish(number, fits ? State::complete : State::misfit);
  }
  SocketsFrame answer{.bytes = receive.bytes, .message = frame.message, .receive = number};
  answer.kind = fits ? SocketsFrameKind::grant : SocketsFrameKind::refusal;
  receive.granted = fits;
  if (!fits) finish(number, State::misfit);
  transmit(from, answer);
}

void SocketsLinks::start_data(int to, const SocketsFrame& grant) {
  Message& message = messages_.at(grant.message);
  if (message.given_up) return messages_.remove(grant.message);
  message.granted = true;
  if (to != rank_) {
    const SocketsFrame frame{
        .message = grant.message, .receive = grant.receive, .kind = SocketsFrameKind::data};
    return transmit(to, frame, message.data, message.bytes, grant.message);
  }
  std::memcpy(messages_.at(grant.receive).data, message.data, static_cast<std::size_t>(message.bytes));
  finish(grant.receive, State::complete);
  finish(grant.message, State::complete);
}

}  // namespace partita::runtime
