#include "runtime/mpi_communicator.hpp"

#include <cstring>

#include "base/check.hpp"
#include "runtime/mpi_exit.hpp"
#include "runtime/mpi_group.hpp"
#include "runtime/mpi_library.hpp"
#include "runtime/process_group.hpp"

namespace partita {

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

namespace {

/// Errors come back to us while this lives, not to the handler that the caller chose.
class ReturnErrors {
 public:
  explicit ReturnErrors(MPI_Comm communicator) : communicator_(communicator) {
    MPI_Comm_get_errhandler(communicator_, &handler_);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  }
  ~ReturnErrors() {
    MPI_Comm_set_errhandler(communicator_, handler_);
    MPI_Errhandler_free(&handler_);
  }
  ReturnErrors(const ReturnErrors&) = delete;
  ReturnErrors& operator=(const ReturnErrors&) = delete;

 private:
  MPI_Comm communicator_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

std::shared_ptr<OurCommunicator> duplicate(MPI_Comm communicator, std::chrono::milliseconds deadline) {
  auto ours = std::make_unique<OurCommunicator>();
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const MpiCall call;
    const ReturnErrors errors(communicator);
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

}  // namespace partita
