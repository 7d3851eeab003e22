#include "runtime/mpi_farewells.hpp"

#include <algorithm>
#include <array>
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
/// What came for contexts that are over by then is never asked for: the oldest goes.
constexpr std::size_t most_heard = 16384;

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

/// What travels: small enough to leave without its receiver's help.
struct MpiFarewells::Message {
  std::uint64_t context = 0;
  std::int32_t rank = -1;
  std::uint8_t failed = 0;
  std::uint8_t kind = 0;
  std::array<char, longest_farewell + 1> text{};

  Message() = default;
  explicit Message(const Farewell& farewell)
      : context(farewell.context),
        rank(farewell.rank),
        failed(farewell.failed ? 1 : 0),
        kind(static_cast<std::uint8_t>(farewell.why.kind)) {
    farewell.why.text.copy(text.data(), text.size() - 1);
  }
  Farewell farewell() const {
    return {context, rank, failed != 0, {static_cast<ErrorKind>(kind), text.data()}};
  }
};

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
  static_assert(std::is_trivially_copyable_v<Message>);
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
    sending.message = std::make_shared<Message>(farewell);
    sending.requests.reserve(ranks.size());
    const MpiCall call;
    for (const int rank : ranks) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int code = MPI_Isend(sending.message.get(), sizeof(Message), MPI_BYTE, rank, tag,
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
  Message message;
  check_mpi(MPI_Recv(&message, sizeof(Message), MPI_BYTE, status.MPI_SOURCE, tag, ours_->communicator,
                     MPI_STATUS_IGNORE),
            "a farewell");
  note(message.farewell());
}

void MpiFarewells::note(const Farewell& farewell) {
  const bool known = std::any_of(heard_.begin(), heard_.end(), [&](const Farewell& before) {
    return before.context == farewell.context && before.rank == farewell.rank;
  });
  if (known) return;
  if (heard_.size() == most_heard) heard_.erase(heard_.begin());
  heard_.push_back(farewell);
}

std::vector<Farewell> MpiFarewells::heard(std::uint64_t context) const {
  const std::lock_guard lock(mutex_);
  std::vector<Farewell> ours;
  std::copy_if(heard_.begin(), heard_.end(), std::back_inserter(ours),
               [&](const Farewell& farewell) { return farewell.context == context; });
  return ours;
}

}  // namespace partita::runtime
