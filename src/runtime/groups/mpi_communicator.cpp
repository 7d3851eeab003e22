#include "runtime/groups/mpi_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/check.hpp"
#include "runtime/groups/mpi_exit.hpp"
#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/mpi_library.hpp"
#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

OurCommunicator::~OurCommunicator() {
  if (communicator == mpi_calls().no_comm || messages_left || context_failed_in_this_process()) return;
  if (!mpi_is_running()) return;
  try {
    const MpiCall call;
    mpi_calls().comm_free(&communicator);
  } catch (const Error&) {
    // Another thread than MPI allows: the communicator stays until MPI_Finalize.
  }
}

mpi::Comm handle_of(const Communicator& communicator) {
  const mpi::Calls& mpi = mpi_calls();
  mpi::Comm handle = mpi.world;
  if (communicator.handle_bytes != 0) {
    handle = {};
    std::memcpy(&handle.bits, communicator.handle.data(), static_cast<std::size_t>(mpi.handle_bytes));
    check(handle != mpi.no_comm, "the communicator is MPI_COMM_NULL");
    check(!mpi.comm_test_inter(handle),
          "an inter-communicator is not a group of ranks; merge it first (MPI_Intercomm_merge)");
  }
  return handle;
}

std::shared_ptr<OurCommunicator> duplicate(mpi::Comm communicator, std::chrono::milliseconds deadline) {
  const mpi::Calls& mpi = mpi_calls();
  auto ours = std::make_unique<OurCommunicator>();
  mpi::Request request = mpi.no_request;
  {
    const MpiCall call;
    const ReturnedErrors errors({communicator});
    check_mpi(mpi.comm_idup(communicator, &ours->communicator, &request), "MPI_Comm_idup");
  }
  if (!wait_mpi(request, deadline, "MPI_Comm_idup")) {
    (void)ours.release();  // MPI may still write into it.
    note_failed_context();
    throw TimeoutError(fmt::format("initialize: not all ranks of the communicator called it within {} s",
                                   std::chrono::duration<double>(deadline).count()));
  }
  const MpiCall call;
  mpi.return_errors(ours->communicator);
  ours->largest_key = (mpi.largest_tag(ours->communicator) - (lane_count - 1)) / lane_count;
  return ours;
}

namespace {

struct Exchange {
  HostCard mine;
  std::vector<HostCard> all;
  mpi::Request request = mpi_calls().no_request;
};

std::vector<HostCard> all_cards(mpi::Comm communicator, const HostCard& mine,
                                std::chrono::milliseconds deadline) {
  int size = 0;
  mpi_calls().comm_size(communicator, &size);
  auto exchange = std::make_unique<Exchange>();
  exchange->mine = mine;
  exchange->all.resize(static_cast<std::size_t>(size));
  constexpr int bytes = static_cast<int>(sizeof(HostCard));
  {
    const MpiCall call;
    check_mpi(mpi_calls().iallgather(&exchange->mine, exchange->all.data(), bytes, communicator,
                                     &exchange->request),
              "MPI_Iallgather");
  }
  if (!wait_mpi(exchange->request, deadline, "MPI_Iallgather")) {
    (void)exchange.release();  // MPI may still write into it.
    throw TimeoutError(fmt::format("initialize: not all of the {} ranks answered within {} s", size,
                                   std::chrono::duration<double>(deadline).count()));
  }
  return std::move(exchange->all);
}

}  // namespace

RankHosts find_mpi_hosts(mpi::Comm communicator, int ranks_per_node, std::chrono::milliseconds deadline) {
  return hosts_of(all_cards(communicator, {this_host(), ranks_per_node}, deadline));
}

}  // namespace partita::runtime
