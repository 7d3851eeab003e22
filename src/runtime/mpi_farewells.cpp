#include "runtime/mpi_farewells.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "runtime/keeper.hpp"
#include "runtime/mpi_group.hpp"
#include "runtime/mpi_library.hpp"

namespace partita {

/// What travels: small enough to leave without its receiver's help.
struct MpiFarewells::Letter {
  std::uint64_t context = 0;
  std::int32_t rank = -1;
  std::uint8_t failed = 0;
  std::uint8_t kind = 0;
  std::array<char, longest_farewell + 1> text{};

  Letter() = default;
  explicit Letter(const Farewell& farewell)
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

MpiFarewells::~MpiFarewells() {
  static_assert(std::is_trivially_copyable_v<Letter>);
  if (all_sent()) return;
  for (Sending& sending : sending_) keep_until_exit(std::make_shared<Sending>(std::move(sending)));
}

void MpiFarewells::say(const Farewell& farewell, const std::vector<int>& ranks) noexcept {
  try {
    if (ranks.empty() || !mpi_is_running()) return;
    const std::lock_guard lock(mutex_);
    Sending& sending = sending_.emplace_back();
    sending.letter = std::make_shared<Letter>(farewell);
    sending.requests.reserve(ranks.size());
    const MpiCall call;
    for (const int rank : ranks) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int code =
          MPI_Isend(sending.letter.get(), sizeof(Letter), MPI_BYTE, rank, tag_, communicator_, &request);
      if (code == MPI_SUCCESS) sending.requests.push_back(request);
    }
  } catch (...) {
    // Another thread than MPI allows, or no memory: the ranks of other nodes find out by their deadline.
  }
}

bool MpiFarewells::all_sent() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (sending_.empty()) return true;
    if (!mpi_is_running()) return false;
    const MpiCall call;
    bool all = true;
    for (Sending& sending : sending_) {
      int complete = 0;
      MPI_Testall(static_cast<int>(sending.requests.size()), sending.requests.data(), &complete,
                  MPI_STATUSES_IGNORE);
      all = all && complete != 0;
    }
    return all;
  } catch (...) {
    return false;
  }
}

std::optional<Farewell> MpiFarewells::listen() {
  int arrived = 0;
  Letter letter;
  {
    const MpiCall call;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag_, communicator_, &arrived, &status), "progress");
    if (arrived == 0) return std::nullopt;
    // It is here, and this thread is the only one that takes such: the receive does not wait.
    check_mpi(MPI_Recv(&letter, sizeof(Letter), MPI_BYTE, status.MPI_SOURCE, tag_, communicator_,
                       MPI_STATUS_IGNORE),
              "a farewell");
  }
  Farewell farewell = letter.farewell();
  if (!is_news(farewell)) return std::nullopt;
  return farewell;
}

bool MpiFarewells::is_news(const Farewell& farewell) {
  const std::lock_guard lock(mutex_);
  const bool known = std::any_of(heard_.begin(), heard_.end(), [&](const Farewell& before) {
    return before.context == farewell.context && before.rank == farewell.rank;
  });
  if (!known) heard_.push_back(farewell);
  return !known;
}

std::vector<Farewell> MpiFarewells::heard(std::uint64_t context) const {
  const std::lock_guard lock(mutex_);
  std::vector<Farewell> ours;
  std::copy_if(heard_.begin(), heard_.end(), std::back_inserter(ours),
               [&](const Farewell& farewell) { return farewell.context == context; });
  return ours;
}

}  // namespace partita
