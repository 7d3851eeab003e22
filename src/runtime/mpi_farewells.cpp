#include "runtime/mpi_farewells.hpp"

#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "runtime/keeper.hpp"
#include "runtime/mpi_communicator.hpp"
#include "runtime/mpi_group.hpp"
#include "runtime/mpi_library.hpp"

namespace partita::runtime {
namespace {

constexpr int tag = 0;

using Shared = std::shared_ptr<MpiFarewells>;

/// MPI calls it when the caller frees the communicator, or while MPI itself ends, when nothing may be freed.
int forget_farewells(MPI_Comm callers, int, void* value, void*) {
  const std::unique_ptr<Shared> ours(static_cast<Shared*>(value));
  if (callers == MPI_COMM_WORLD || callers == MPI_COMM_SELF) keep_until_exit(*ours);
  return MPI_SUCCESS;
}

int make_key() {
  const MpiCall call;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &forget_farewells, &key, nullptr);
  return key;
}

}  // namespace

Shared MpiFarewells::of(MPI_Comm callers, std::chrono::milliseconds deadline) {
  static const int key = make_key();
  void* found = nullptr;
  int is_there = 0;
  {
    const MpiCall call;
    MPI_Comm_get_attr(callers, key, static_cast<void*>(&found), &is_there);
  }
  if (is_there != 0) return *static_cast<Shared*>(found);
  auto ours = std::make_unique<Shared>(std::make_shared<MpiFarewells>(duplicate(callers, deadline)));
  Shared result = *ours;
  const MpiCall call;
  check_mpi(MPI_Comm_set_attr(callers, key, ours.get()), "MPI_Comm_set_attr");
  (void)ours.release();  // the attribute's
  return result;
}

MpiFarewells::~MpiFarewells() {
  static_assert(std::is_trivially_copyable_v<FarewellMessage>);
  try {
    forget_sent();
  } catch (const Error&) {
    // Another thread than MPI allows.
  }
  for (Sending& sending : sending_) keep_until_exit(std::make_shared<Sending>(std::move(sending)));
}

void MpiFarewells::say(const Farewell& farewell, const std::vector<int>& ranks) noexcept {
  try {
    if (ranks.empty() || !mpi_is_running()) return;
    const std::lock_guard lock(mutex_);
    forget_sent();
    ours_->messages_left = true;  // one may be there for ever
    Sending& sending = sending_.emplace_back();
    sending.message = std::make_shared<FarewellMessage>(farewell);
    sending.requests.reserve(ranks.size());
    const MpiCall call;
    for (const int rank : ranks) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int code = MPI_Isend(sending.message.get(), sizeof(FarewellMessage), MPI_BYTE, rank, tag,
                                 ours_->communicator, &request);
      if (code == MPI_SUCCESS) sending.requests.push_back(request);
    }
  } catch (...) {
    // Another thread than MPI allows, or no memory: the ranks of other nodes find out by their deadline.
  }
}

void MpiFarewells::forget_sent() {
  if (sending_.empty() || !mpi_is_running()) return;
  const MpiCall call;
  std::erase_if(sending_, [](Sending& sending) {
    int complete = 0;
    MPI_Testall(static_cast<int>(sending.requests.size()), sending.requests.data(), &complete,
                MPI_STATUSES_IGNORE);
    return complete != 0;
  });
}

void MpiFarewells::listen() {
  const std::lock_guard lock(mutex_);
  const MpiCall call;
  int arrived = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, ours_->communicator, &arrived, &status), "progress");
  if (arrived == 0) return;
  // It is here, and nobody else takes it while this thread has the lock: the receive does not wait.
  FarewellMessage message;
  check_mpi(MPI_Recv(&message, sizeof(FarewellMessage), MPI_BYTE, status.MPI_SOURCE, tag, ours_->communicator,
                     MPI_STATUS_IGNORE),
            "a farewell");
  heard_.note(message.farewell());
}

std::vector<Farewell> MpiFarewells::heard(std::uint64_t context) const {
  const std::lock_guard lock(mutex_);
  return heard_.of(context);
}

}  // namespace partita::runtime
