#include "runtime/groups/host_identity.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace partita::runtime {
namespace {

template <std::size_t size>
void assign(std::array<char, size>& to, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), size - 1), to.begin());
}

std::uint64_t namespace_number(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

bool HostIdentity::same_node(const HostIdentity& other) const {
  return host == other.host && boot == other.boot && mount_namespace == other.mount_namespace &&
         network_namespace == other.network_namespace;
}

bool HostIdentity::same_processes(const HostIdentity& other) const {
  return boot == other.boot && process_namespace != 0 && process_namespace == other.process_namespace;
}

std::string HostIdentity::host_name() const {
  return host.data();
}

std::string HostIdentity::place() const {
  return fmt::format("{}:{}", host.data(), process);
}

std::string host_of(std::string_view place) {
  return std::string(place.substr(0, place.rfind(':')));
}

HostIdentity this_host() {
  HostIdentity identity;
  ::gethostname(identity.host.data(), identity.host.size() - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  assign(identity.boot, boot);
  identity.mount_namespace = namespace_number("/proc/self/ns/mnt");
  identity.network_namespace = namespace_number("/proc/self/ns/net");
  identity.process_namespace = namespace_number("/proc/self/ns/pid");
  identity.process = ::getpid();
  identity.start_time = process_start_time(identity.process);
  return identity;
}

std::uint64_t process_start_time(std::int64_t process) {
  std::string line;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", process)), line);
  // Field 2, the name in brackets, may contain anything; field 3 is the state, field 22 the start time.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return 0;
  for (int number = 4; number <= 22; ++number) fields >> field;
  return std::stoull(field);
}

Topology topology_of(std::span<const HostIdentity> ranks, int ranks_per_node) {
  using Host = std::tuple<std::string_view, std::string_view, std::uint64_t, std::uint64_t>;
  std::map<Host, std::pair<int, int>> hosts;  // number of the host, ranks seen on it
  std::map<std::pair<int, int>, int> numbers;
  std::vector<int> nodes;
  for (const HostIdentity& rank : ranks) {
    const Host key{rank.host.data(), rank.boot.data(), rank.mount_namespace, rank.network_namespace};
    const int next_host = static_cast<int>(hosts.size());
    auto& [host, seen] = hosts.try_emplace(key, next_host, 0).first->second;
    const int part = ranks_per_node > 0 ? seen / ranks_per_node : 0;
    ++seen;
    const int next_node = static_cast<int>(numbers.size());
    nodes.push_back(numbers.try_emplace({host, part}, next_node).first->second);
  }
  return Topology::of(std::move(nodes));
}

}  // namespace partita::runtime
