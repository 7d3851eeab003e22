#include "runtime/groups/group_of_processes.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "base/check.hpp"
#include "runtime/groups/subgroup.hpp"

namespace partita::runtime {

ProcessMembers ProcessMembers::all(RankHosts hosts, int rank) {
  std::vector<int> ranks(hosts.hosts.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return {std::move(ranks), rank, std::move(hosts.hosts), std::move(hosts.topology)};
}

GroupOfProcesses::GroupOfProcesses(ProcessMembers members)
    : ranks_(std::move(members.ranks)),
      rank_(members.rank),
      hosts_(std::move(members.hosts)),
      topology_(std::move(members.topology)),
      watch_(hosts_[static_cast<std::size_t>(rank_)], hosts_) {}

int GroupOfProcesses::in_job(int peer, std::int64_t bytes) const {
  check(peer >= 0 && peer < size(), "rank {} is not one of the {} ranks", peer, size());
  check(bytes >= 0, "a message of {} bytes", bytes);
  return ranks_[static_cast<std::size_t>(peer)];
}

ProcessMembers GroupOfProcesses::members(const std::vector<int>& ranks) const {
  ProcessMembers result;
  result.rank = check_subgroup(ranks, size(), rank_);
  for (const int rank : ranks) {
    result.ranks.push_back(ranks_[static_cast<std::size_t>(rank)]);
    result.hosts.push_back(hosts_[static_cast<std::size_t>(rank)]);
  }
  result.topology = subgroup_topology(topology_, ranks);
  return result;
}

std::string GroupOfProcesses::lost(int peer) {
  const std::string what = watch_.lost(peer);
  return what.empty() ? "" : fmt::format("rank {} {}", peer, what);
}

}  // namespace partita::runtime
