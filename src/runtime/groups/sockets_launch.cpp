#include "runtime/groups/sockets_launch.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "base/environment_variable.hpp"
#include "runtime/groups/sockets_channels.hpp"
#include "runtime/groups/sockets_group.hpp"
#include "runtime/home_process.hpp"
#include "runtime/live_contexts.hpp"

namespace partita::runtime {
namespace {

/// What is on its way at exit needs its receiver only to read on.
constexpr std::chrono::seconds patience_for_the_last{10};

struct Taken {
  HomeProcess home;
  std::shared_ptr<SocketsLinks> links;
};
/// The channels of a launcher, until there are connections.
struct Connecting {
  HomeProcess home;
  int rank;
  SocketsChannels channels;
};
// Never destroyed: contexts may go in static destructors.
std::atomic<Taken*> taken{nullptr};
std::mutex taking;
std::unique_ptr<Connecting> connecting;

std::optional<int> natural_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

bool is_stream(int descriptor) {
  int type = 0;
  socklen_t bytes = sizeof(type);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM;
}

std::vector<FileDescriptor> take(const HandedSockets& handed) {
  for (std::size_t rank = 0; rank < handed.descriptors.size(); ++rank) {
    const int descriptor = handed.descriptors[rank];
    check(descriptor < 0 || is_stream(descriptor),
          "{} names descriptor {} for rank {}, which is not a connection: a program between the launcher and "
          "this one has closed it",
          sockets_variable, descriptor, rank);
  }
  std::vector<FileDescriptor> sockets;
  for (const int descriptor : handed.descriptors) {
    if (descriptor >= 0) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    sockets.emplace_back(descriptor);
  }
  return sockets;
}

void require_home(const HomeProcess& home) {
  if (home.is_here()) return;
  throw UnsupportedError(
      fmt::format("the connections of this rank are those of process {}, of which this one is a fork: it has "
                  "it cannot use them",
                  home.number()));
}

std::shared_ptr<SocketsLinks> connected(std::chrono::milliseconds deadline) {
  if (connecting == nullptr) {
    const HandedSockets handed = parse_sockets(environment_variable(sockets_variable));
    std::vector<FileDescriptor> sockets = take(handed);
    if (!handed.are_channels) return std::make_shared<SocketsLinks>(handed.rank, std::move(sockets));
    connecting = std::make_unique<Connecting>(
        Connecting{{}, handed.rank, SocketsChannels(handed.rank, std::move(sockets))});
  }
  require_home(connecting->home);
  std::vector<FileDescriptor> connections = connecting->channels.connect(deadline);
  const std::unique_ptr<Connecting> done = std::move(connecting);
  return std::make_shared<SocketsLinks>(done->rank, std::move(connections));
}

void end_sockets_at_exit() {
  const Taken& ours = *taken.load();
  if (!ours.home.is_here()) return;
  leave_contexts("has ended its program with its context open");
  try {
    ours.links->flush(patience_for_the_last);
  } catch (...) {
    // A connection that fails now has nothing to lose any more: the process ends.
  }
}

}  // namespace

bool has_sockets() {
  return taken.load() != nullptr || !environment_variable(sockets_variable).empty();
}

HandedSockets parse_sockets(std::string_view text) {
  const auto refuse = [text](bool good) {
    check(good, "{} is \"{:.40}\"; it must be what `partita run --threads` sets", sockets_variable, text);
  };
  HandedSockets handed;
  constexpr std::string_view of_channels = "channels ";
  handed.are_channels = text.starts_with(of_channels);
  if (handed.are_channels) text.remove_prefix(of_channels.size());
  const std::size_t colon = text.find(':');
  refuse(colon != std::string_view::npos);
  const std::optional<int> rank = natural_number(text.substr(0, colon));
  refuse(rank.has_value());
  handed.rank = *rank;
  std::string_view rest = text.substr(colon + 1);
  for (bool more = true; more;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    const bool own = static_cast<int>(handed.descriptors.size()) == handed.rank;
    const std::optional<int> descriptor = natural_number(word);
    refuse(own ? word == "-" : descriptor.has_value());
    handed.descriptors.push_back(own ? -1 : *descriptor);
    more = comma < rest.size();
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  refuse(handed.rank < static_cast<int>(handed.descriptors.size()));
  return handed;
}

std::shared_ptr<SocketsLinks> sockets_of_launcher(std::chrono::milliseconds deadline) {
  if (const Taken* const before = taken.load(); before != nullptr) require_home(before->home);
  const std::lock_guard lock(taking);
  if (taken.load() == nullptr) {
    auto ours = std::make_unique<Taken>();
    ours->links = connected(deadline);
    taken = ours.release();
    ::unsetenv(sockets_variable);
    std::atexit(end_sockets_at_exit);
  }
  return taken.load()->links;
}

}  // namespace partita::runtime
