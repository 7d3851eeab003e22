#include "runtime/mpi_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "runtime/mpi_exit.hpp"
#include "runtime/mpi_group.hpp"
#include "runtime/mpi_library.hpp"
#include "runtime/process_group.hpp"

namespace partita::runtime {

OurCommunicator::~OurCommunicator() {
  if (communicator == MPI_COMM_NULL || messages_left || context_failed_in_this_process()) return;
  if (!mpi_is_running()) return;
  try {
    const MpiCall call;
    MPI_Comm_free(&communicator);
  } catch (const Error&) {
    // Another thread than MPI allows: the communicator stays until MPI_Finalize.
  }
}

MPI_Comm handle_of(const Communicator& communicator) {
  MPI_Comm handle = MPI_COMM_WORLD;
  if (communicator.handle_bytes != 0) {
    std::memcpy(&handle, communicator.handle.data(), sizeof(handle));
    check(handle != MPI_COMM_NULL, "the communicator is MPI_COMM_NULL");
    int between = 0;
    MPI_Comm_test_inter(handle, &between);
    check(between == 0, "an inter-communicator is no group of ranks; merge it first (MPI_Intercomm_merge)");
  }
  return handle;
}

std::shared_ptr<OurCommunicator> duplicate(MPI_Comm communicator, std::chrono::milliseconds deadline) {
  auto ours = std::make_unique<OurCommunicator>();
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiCall call;
    const ReturnedErrors errors({communicator});
    check_mpi(MPI_Comm_idup(communicator, &ours->communicator, &request), "MPI_Comm_idup");
  }
  if (!wait_mpi(request, deadline, "MPI_Comm_idup")) {
    (void)ours.release();  // MPI may still write into it.
    note_failed_context();
    throw TimeoutError(fmt::format("initialize: not all ranks of the communicator called it within {} s",
                                   std::chrono::duration<double>(deadline).count()));
  }
  const MpiCall call;
  MPI_Comm_set_errhandler(ours->communicator, MPI_ERRORS_RETURN);
  int found = 0;
  const int* largest_tag = nullptr;
  MPI_Comm_get_attr(ours->communicator, MPI_TAG_UB, static_cast<void*>(&largest_tag), &found);
  ours->largest_key = ((found != 0 ? *largest_tag : 32767) - (lane_count - 1)) / lane_count;
  return ours;
}

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

}  // namespace partita::runtime
