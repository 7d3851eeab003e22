#include "runtime/groups/mpi_farewells.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "runtime/groups/kept_until_exit.hpp"
#include "runtime/groups/mpi_communicator.hpp"
#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/mpi_library.hpp"

namespace partita::runtime {
namespace {

constexpr int tag = 0;

using Shared = std::shared_ptr<MpiFarewells>;

/// MPI calls it when the caller frees the communicator, or while MPI itself ends, when nothing may be freed.
void forget_farewells(mpi::Comm callers, void* value) {
  const std::unique_ptr<Shared> ours(static_cast<Shared*>(value));
  if (callers == mpi_calls().world || callers == mpi_calls().self) keep_until_exit(*ours);
}

int make_key() {
  const MpiCall call;
  return mpi_calls().comm_create_keyval(&forget_farewells);
}

}  // namespace

Shared MpiFarewells::of(mpi::Comm callers, std::chrono::milliseconds deadline) {
  static const int key = make_key();
  void* found = nullptr;
  {
    const MpiCall call;
    found = mpi_calls().comm_get_attr(callers, key);
  }
  if (found != nullptr) return *static_cast<Shared*>(found);
  auto ours = std::make_unique<Shared>(std::make_shared<MpiFarewells>(duplicate(callers, deadline)));
  Shared result = *ours;
  const MpiCall call;
  check_mpi(mpi_calls().comm_set_attr(callers, key, ours.get()), "MPI_Comm_set_attr");
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

void MpiFarewells::say(const FarewellMessage& message, const std::vector<int>& ranks) noexcept {
  try {
    if (ranks.empty() || !mpi_is_running()) return;
    const std::lock_guard lock(mutex_);
    forget_sent();
    ours_->messages_left = true;  // one may be there for ever
    Sending& sending = sending_.emplace_back();
    sending.message = std::make_shared<FarewellMessage>(message);
    sending.requests.reserve(ranks.size());
    const MpiCall call;
    for (const int rank : ranks) {
      mpi::Request request = mpi_calls().no_request;
      const int code = mpi_calls().isend(sending.message.get(), sizeof(FarewellMessage), rank, tag,
                                         ours_->communicator, &request);
      if (code == mpi::success) sending.requests.push_back(request);
    }
  } catch (...) {
    // Another thread than MPI allows, or no memory: the ranks of other nodes find out by their deadline.
  }
}

void MpiFarewells::forget_sent() {
  if (sending_.empty() || !mpi_is_running()) return;
  const MpiCall call;
  std::erase_if(sending_, [](Sending& sending) {
    return std::all_of(sending.requests.begin(), sending.requests.end(), [](mpi::Request& request) {
      bool complete = false;
      mpi_calls().test(&request, &complete, nullptr);
      return complete;
    });
  });
}

void MpiFarewells::listen() {
  const std::lock_guard lock(mutex_);
  const MpiCall call;
  bool arrived = false;
  int source = 0;
  check_mpi(mpi_calls().iprobe(tag, ours_->communicator, &arrived, &source), "progress");
  if (!arrived) return;
  // It is here, and no other thread takes it while this thread has the lock: the receive does not wait.
  FarewellMessage message;
  check_mpi(mpi_calls().recv(&message, sizeof(FarewellMessage), source, tag, ours_->communicator),
            "a farewell");
  heard_.add(message);
}

std::vector<Farewell> MpiFarewells::heard(std::uint64_t context) const {
  const std::lock_guard lock(mutex_);
  return heard_.of(context);
}

std::vector<Note> MpiFarewells::take_notes(std::uint64_t context) {
  const std::lock_guard lock(mutex_);
  return heard_.take_notes(context);
}

}  // namespace partita::runtime
