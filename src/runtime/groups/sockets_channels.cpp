#include "runtime/groups/sockets_channels.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <partita/error.hpp>
#include <utility>

#include "base/check.hpp"
#include "base/descriptor_message.hpp"

namespace partita::runtime {
namespace {

/// One byte, and a descriptor with it.
using ChannelMessage = DescriptorMessage<char, 1>;

bool has_hung_up(const FileDescriptor& connection) {
  pollfd look{connection.get(), POLLRDHUP, 0};
  return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

[[noreturn]] void fail_as_lost(int rank) {
  throw LostPeerError(fmt::format("initialize: rank {} has ended", rank));
}

}  // namespace

SocketsChannels::SocketsChannels(int rank, std::vector<FileDescriptor> channels)
    : rank_(rank), channels_(std::move(channels)), connections_(channels_.size()) {
  for (int to = rank + 1; to < static_cast<int>(channels_.size()); ++to) send_end(to);
}

void SocketsChannels::send_end(int to) {
  const auto place = static_cast<std::size_t>(to);
  int ends[2] = {-1, -1};
  const bool made = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
  check<Error>(made, "initialize: no connection to rank {}: {}", to, std::strerror(errno));
  connections_[place] = FileDescriptor(ends[0]);
  const FileDescriptor theirs(ends[1]);
  ChannelMessage message;
  message.attach(std::array{theirs.get()});
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(channels_[place].get(), &message.header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) fail_as_lost(to);
  check<Error>(sent == 1, "initialize: no connection to rank {}: {}", to, std::strerror(errno));
  channels_[place].reset();
}

/// Whether it has come.
bool SocketsChannels::receive_end(int from) {
  const auto place = static_cast<std::size_t>(from);
  while (!connections_[place]) {
    ChannelMessage message;
    const ssize_t taken = ::recvmsg(channels_[place].get(), &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (taken <= 0) fail_as_lost(from);
    for (FileDescriptor& connection : message.detach()) {
      if (!has_hung_up(connection)) connections_[place] = std::move(connection);
    }
  }
  channels_[place].reset();
  return true;
}

std::vector<FileDescriptor> SocketsChannels::connect(std::chrono::milliseconds deadline) {
  const auto latest = std::chrono::steady_clock::now() + deadline;
  for (int from = 0; from < rank_;) {
    if (receive_end(from)) {
      ++from;
      continue;
    }
    check<TimeoutError>(std::chrono::steady_clock::now() < latest,
                        "initialize: rank {} did not call it within {} s", from,
                        std::chrono::duration<double>(deadline).count());
    constexpr int milliseconds = 20;
    pollfd look{channels_[static_cast<std::size_t>(from)].get(), POLLIN, 0};
    ::poll(&look, 1, milliseconds);
  }
  return std::move(connections_);
}

}  // namespace partita::runtime
