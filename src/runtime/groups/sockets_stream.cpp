#include "runtime/groups/sockets_stream.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace partita::runtime {
namespace {

constexpr std::size_t buffer_bytes = 64 << 10;
static_assert(buffer_bytes >= sizeof(SocketsFrame) + longest_eager);

constexpr auto header_bytes = static_cast<std::int64_t>(sizeof(SocketsFrame));

}  // namespace

SocketsStream::SocketsStream(FileDescriptor socket)
    : socket_(std::move(socket)), open_(static_cast<bool>(socket_)), writes_(open_) {
  if (socket_) buffer_.resize(buffer_bytes);
}

void SocketsStream::put(const SocketsFrame& frame, const std::byte* data, std::int64_t bytes,
                        MessageId message) {
  if (!writes_) return;
  Outgoing& last = queue_.emplace_back();
  last.frame = frame;
  last.data = data;
  last.left = bytes;
  last.message = message;
  if (frame.kind == SocketsFrameKind::data) last.frame.bytes = std::min(longest_piece, bytes);
}

void SocketsStream::put_copy(const SocketsFrame& frame, std::span<const std::byte> payload) {
  put(frame, payload.data(), static_cast<std::int64_t>(payload.size()), -1);
  if (has_unwritten()) keep(queue_.back());
}

void SocketsStream::write(std::vector<MessageId>& written) {
  while (!queue_.empty() && write_some(queue_.front())) {
    Outgoing& frame = queue_.front();
    if (frame.sent == header_bytes + frame.frame.payload()) finish_frame(written);
  }
}

/// False where the kernel takes nothing more.
bool SocketsStream::write_some(Outgoing& frame) {
  const std::int64_t header_sent = std::min(frame.sent, header_bytes);
  const std::int64_t payload_sent = frame.sent - header_sent;
  std::array<iovec, 2> parts{};
  parts[0] = {reinterpret_cast<std::byte*>(&frame.frame) + header_sent,
              static_cast<std::size_t>(header_bytes - header_sent)};
  if (frame.frame.payload() > 0) {
    parts[1] = {const_cast<std::byte*>(frame.data) + payload_sent,  // what is sent is only read
                static_cast<std::size_t>(frame.frame.payload() - payload_sent)};
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  ssize_t taken = -1;
  do {
    taken = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (taken < 0 && errno == EINTR);
  if (taken > 0) {
    frame.sent += taken;
    return true;
  }
  if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS && errno != ENOMEM) end_writing();
  return false;
}

/// The next piece of a large message is appended to what waits.
void SocketsStream::finish_frame(std::vector<MessageId>& written) {
  Outgoing frame = std::move(queue_.front());
  queue_.pop_front();
  frame.left -= frame.frame.payload();
  if (frame.left > 0) {
    frame.data += frame.frame.payload();
    frame.frame.bytes = std::min(longest_piece, frame.left);
    frame.sent = 0;
    queue_.push_back(std::move(frame));
  } else if (frame.message >= 0) {
    written.push_back(frame.message);
  }
}

/// The rest of the frame in separate memory, and nothing after it.
void SocketsStream::keep(Outgoing& frame) {
  frame.left = frame.frame.payload();
  frame.kept.assign(frame.data, frame.data + frame.left);
  frame.data = frame.kept.data();
}

bool SocketsStream::give_up(MessageId message) {
  bool leaves = false;
  std::erase_if(queue_, [&](Outgoing& frame) {
    if (frame.message != message) return false;
    if (frame.frame.kind == SocketsFrameKind::data && frame.sent == 0) return true;
    keep(frame);
    leaves = true;
    return false;
  });
  return leaves;
}

/// What the peer has written before it went may still be there to be read.
void SocketsStream::end_writing() {
  writes_ = false;
  queue_.clear();
}

bool SocketsStream::fill() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0 && end_ == buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t bytes = read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += bytes;
  return bytes > 0;
}

std::size_t SocketsStream::read(std::byte* to, std::size_t bytes) {
  if (!open_) return 0;
  ssize_t taken = -1;
  do {
    taken = ::recv(socket_.get(), to, bytes, MSG_DONTWAIT);
  } while (taken < 0 && errno == EINTR);
  if (taken > 0) return static_cast<std::size_t>(taken);
  if (taken == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
    end_writing();
    open_ = false;
  }
  return 0;
}

}  // namespace partita::runtime
