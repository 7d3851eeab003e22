// Farewells as messages of their own, beside all others. For the files of the mpi backend only.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/process_group.hpp"

namespace partita {

/// Nobody has to receive them: who waits looks whether one has come. Thread-safe but for `listen`.
class MpiFarewells {
 public:
  MpiFarewells(MPI_Comm communicator, int tag) : communicator_(communicator), tag_(tag) {}
  /// What has not left by now stays until the process ends.
  ~MpiFarewells();
  MpiFarewells(const MpiFarewells&) = delete;
  MpiFarewells& operator=(const MpiFarewells&) = delete;

  /// To these ranks of the communicator. Nothing is said where MPI cannot be called from this thread.
  void say(const Farewell& farewell, const std::vector<int>& ranks) noexcept;
  /// Takes in one that has come, if it is news. Lets MPI make progress. By the thread that uses the group.
  std::optional<Farewell> listen();
  /// Of this context, each rank's first one.
  std::vector<Farewell> heard(std::uint64_t context) const;
  /// All that has been said is on its way.
  bool all_sent() noexcept;

 private:
  struct Letter;
  struct Sending {
    std::shared_ptr<Letter> letter;
    std::vector<MPI_Request> requests;
  };
  bool is_news(const Farewell& farewell);

  MPI_Comm communicator_;
  int tag_;
  mutable std::mutex mutex_;
  std::vector<Sending> sending_;
  std::vector<Farewell> heard_;
};

}  // namespace partita
