#include "runtime/groups/host_cards.hpp"

#include <type_traits>

#include "base/check.hpp"

namespace partita::runtime {

static_assert(std::is_trivially_copyable_v<HostCard>);

RankHosts hosts_of(std::span<const HostCard> cards) {
  RankHosts result;
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    check<DisagreementError>(cards[rank].ranks_per_node == cards.front().ranks_per_node,
                             "the ranks disagree on the ranks per node: {} on rank 0; {} on rank {}",
                             cards.front().ranks_per_node, cards[rank].ranks_per_node, rank);
    result.hosts.push_back(cards[rank].host);
  }
  result.topology = topology_of(result.hosts, cards.front().ranks_per_node);
  return result;
}

}  // namespace partita::runtime
