// What the groups whose ranks are processes have in common, whatever carries their messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/board/process_watch.hpp"
#include "runtime/groups/host_cards.hpp"
#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

/// Who belongs to a group, by its ranks.
struct ProcessMembers {
  /// All ranks of the job; `rank` is this one's.
  static ProcessMembers all(RankHosts hosts, int rank);

  std::vector<int> ranks;  ///< in the job
  int rank = 0;            ///< this one's, in the group
  std::vector<HostIdentity> hosts;
  Topology topology;
};

class GroupOfProcesses : public ProcessGroup {
 public:
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  const Topology& topology() const override { return topology_; }
  bool in_process() const override { return false; }
  std::string lost(int peer) override;
  std::string place() const override { return hosts_[static_cast<std::size_t>(rank_)].place(); }

 protected:
  explicit GroupOfProcesses(ProcessMembers members);
  /// The rank in the job of whom a message of so many bytes is for or from. Throws ArgumentError.
  int in_job(int peer, std::int64_t bytes) const;
  /// Of a sub-group. Throws ArgumentError.
  ProcessMembers members(const std::vector<int>& ranks) const;

  std::vector<int> ranks_;
  int rank_;
  std::vector<HostIdentity> hosts_;
  Topology topology_;
  ProcessWatch watch_;
};

}  // namespace partita::runtime
