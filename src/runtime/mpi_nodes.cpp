#include "runtime/mpi_nodes.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "runtime/mpi_library.hpp"

namespace partita {
namespace {

struct Card {
  HostIdentity host;
  int ranks_per_node = 0;
};
static_assert(std::is_trivially_copyable_v<Card>);

struct Exchange {
  Card mine;
  std::vector<Card> all;
  MPI_Request request = MPI_REQUEST_NULL;
};

std::vector<Card> all_cards(MPI_Comm communicator, const Card& mine, std::chrono::milliseconds deadline) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  auto exchange = std::make_unique<Exchange>();
  exchange->mine = mine;
  exchange->all.resize(static_cast<std::size_t>(size));
  constexpr int bytes = static_cast<int>(sizeof(Card));
  {
    const MpiCall call;
    check_mpi(MPI_Iallgather(&exchange->mine, bytes, MPI_BYTE, exchange->all.data(), bytes, MPI_BYTE,
                             communicator, &exchange->request),
              "MPI_Iallgather");
  }
  if (!wait_mpi(exchange->request, deadline, "MPI_Iallgather")) {
    (void)exchange.release();  // MPI may still write into it.
    throw TimeoutError(fmt::format("initialize: not all of the {} ranks answered within {} s", size,
                                   std::chrono::duration<double>(deadline).count()));
  }
  return std::move(exchange->all);
}

void check_settings(const std::vector<Card>& cards) {
  for (std::size_t rank = 1; rank < cards.size(); ++rank) {
    check<DisagreementError>(cards[rank].ranks_per_node == cards.front().ranks_per_node,
                             "the ranks disagree on the ranks per node: {} on rank 0; {} on rank {}",
                             cards.front().ranks_per_node, cards[rank].ranks_per_node, rank);
  }
}

}  // namespace

MpiNodes find_mpi_nodes(MPI_Comm communicator, int ranks_per_node, std::chrono::milliseconds deadline) {
  const std::vector<Card> cards = all_cards(communicator, {this_host(), ranks_per_node}, deadline);
  check_settings(cards);
  MpiNodes nodes;
  for (const Card& card : cards) nodes.hosts.push_back(card.host);
  nodes.topology = topology_of(nodes.hosts, cards.front().ranks_per_node);
  return nodes;
}

}  // namespace partita
