#include "runtime/mpi_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
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

struct Exchange {
  HostCard mine;
  std::vector<HostCard> all;
  MPI_Request request = MPI_REQUEST_NULL;
};

std::vector<HostCard> all_cards(MPI_Comm communicator, const HostCard& mine,
                                std::chrono::milliseconds deadline) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  auto exchange = std::make_unique<Exchange>();
  exchange->mine = mine;
  exchange->all.resize(static_cast<std::size_t>(size));
  constexpr int bytes = static_cast<int>(sizeof(HostCard));
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

}  // namespace

RankHosts find_mpi_hosts(MPI_Comm communicator, int ranks_per_node, std::chrono::milliseconds deadline) {
  return hosts_of(all_cards(communicator, {this_host(), ranks_per_node}, deadline));
}

}  // namespace partita::runtime
