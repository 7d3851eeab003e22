// What the processes of a group tell each other of themselves when it is made.
#pragma once

#include <span>
#include <vector>

#include "runtime/groups/host_identity.hpp"

namespace partita::runtime {

/// Plain bytes of fixed size.
struct HostCard {
  HostIdentity host;
  int ranks_per_node = 0;
};

/// Who shares a node, and who is who.
struct RankHosts {
  std::vector<HostIdentity> hosts;  ///< by rank
  Topology topology;
};

/// Of the cards of all ranks. Throws DisagreementError where their settings of the ranks per node differ: the
/// same on every rank.
RankHosts hosts_of(std::span<const HostCard> cards);

}  // namespace partita::runtime
