#include "memory/descriptor_mailbox.hpp"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/check.hpp"
#include "base/descriptor_message.hpp"

namespace partita::memory {
namespace {

constexpr std::size_t secret_bytes = 16;
constexpr std::size_t most_descriptors = 16;

[[noreturn]] void fail_with_errno(std::string_view what) {
  throw Error(fmt::format("{}: {}", what, std::strerror(errno)));
}

std::string random_bytes(std::size_t count) {
  std::string result(count, '\0');
  if (getrandom(result.data(), count, 0) != static_cast<ssize_t>(count)) fail_with_errno("getrandom");
  return result;
}

std::string new_name() {
  std::string result = fmt::format("partita-{}-", getpid());
  for (const char byte : random_bytes(16)) result += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return result;
}

FileDescriptor new_socket() {
  FileDescriptor result(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!result) fail_with_errno("cannot make a local socket");
  return result;
}

/// A name in the abstract namespace begins with a zero byte; its length counts, nothing ends it.
struct Name {
  sockaddr_un address{};
  socklen_t bytes = 0;
  explicit Name(std::string_view text) {
    address.sun_family = AF_UNIX;
    check<Error>(text.size() + 1 <= sizeof(address.sun_path), "a socket name of {} bytes", text.size());
    std::copy(text.begin(), text.end(), address.sun_path + 1);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

bool same_user(const FileDescriptor& connection) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  return peer.uid == geteuid();
}

/// The one message of a delivery.
struct Letter {
  std::array<char, secret_bytes> secret;
  std::int32_t sender;
  std::int32_t descriptors;
};
using Message = DescriptorMessage<Letter, most_descriptors>;

}  // namespace

DescriptorMailbox::DescriptorMailbox(int places)
    : listener_(new_socket()), name_(new_name()), secret_(random_bytes(secret_bytes)) {
  const Name name(name_);
  if (bind(listener_.get(), name.get(), name.bytes) != 0) fail_with_errno("cannot name a local socket");
  if (listen(listener_.get(), places) != 0) fail_with_errno("cannot listen on a local socket");
}

std::string DescriptorMailbox::address() const {
  return secret_ + name_;
}

void DescriptorMailbox::deliver(const std::string& address, std::int32_t sender,
                                const std::vector<int>& descriptors) {
  invariant(address.size() > secret_bytes, "a mailbox address of {} bytes", address.size());
  invariant(!descriptors.empty() && descriptors.size() <= most_descriptors, "{} descriptors",
            descriptors.size());
  const Name name(std::string_view(address).substr(secret_bytes));
  const FileDescriptor connection = new_socket();
  if (connect(connection.get(), name.get(), name.bytes) != 0) {
    fail_with_errno("cannot be reached over a local socket");
  }
  check<Error>(same_user(connection), "belongs to another user");
  Message message;
  std::copy_n(address.data(), secret_bytes, message.letter.secret.data());
  message.letter.sender = sender;
  message.letter.descriptors = static_cast<std::int32_t>(descriptors.size());
  message.attach(descriptors);
  const ssize_t sent = sendmsg(connection.get(), &message.header, MSG_NOSIGNAL);
  if (sent < 0) fail_with_errno("did not take a descriptor");
  check<Error>(sent == static_cast<ssize_t>(sizeof(message.letter)), "took {} bytes of a message", sent);
}

std::map<std::int32_t, std::vector<FileDescriptor>> DescriptorMailbox::collect() {
  std::map<std::int32_t, std::vector<FileDescriptor>> result;
  while (true) {
    const FileDescriptor connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return result;
      fail_with_errno("cannot accept a connection on a local socket");
    }
    receive(connection, result);
  }
}

/// A stranger's connection is forgotten.
void DescriptorMailbox::receive(const FileDescriptor& connection,
                                std::map<std::int32_t, std::vector<FileDescriptor>>& into) const {
  if (!same_user(connection)) return;
  Message message;
  const ssize_t bytes = recvmsg(connection.get(), &message.header, MSG_CMSG_CLOEXEC);
  std::vector<FileDescriptor> descriptors = message.detach();
  const Letter& letter = message.letter;
  if (bytes != static_cast<ssize_t>(sizeof(letter))) return;
  if (!std::equal(letter.secret.begin(), letter.secret.end(), secret_.begin())) return;
  const bool whole = (message.header.msg_flags & MSG_CTRUNC) == 0 &&
                     descriptors.size() == static_cast<std::size_t>(letter.descriptors);
  check<Error>(whole, "a descriptor was not received: this process has too many open files (see ulimit -n)");
  into[letter.sender] = std::move(descriptors);
}

}  // namespace partita::memory
