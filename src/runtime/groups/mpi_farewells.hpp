// Farewells as separate messages. For the files of the mpi backend only.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <partita/context.hpp>
#include <vector>

#include "mpi/calls.hpp"
#include "runtime/groups/heard_farewells.hpp"

namespace partita::runtime {

struct OurCommunicator;

/// Nobody has to receive them: who waits looks whether one has come. So one may still be under way when its
/// context is over. It must not travel on that context's communicator: MPI gives the number of a communicator
/// that was freed to the next one, and takes what comes late for a message of that one, whose own messages
/// it then loses. All groups that were started on one communicator of the caller's share one duplicate of it
/// for this, which is kept as its attribute. Thread-safe.
class MpiFarewells {
 public:
  /// Of the caller's communicator; made with its first group. Collective; TimeoutError when the other ranks
  /// do not come.
  static std::shared_ptr<MpiFarewells> of(mpi::Comm callers, std::chrono::milliseconds deadline);

  explicit MpiFarewells(std::shared_ptr<OurCommunicator> ours) : ours_(std::move(ours)) {}
  /// What has not left by now stays until the process ends.
  ~MpiFarewells();
  MpiFarewells(const MpiFarewells&) = delete;
  MpiFarewells& operator=(const MpiFarewells&) = delete;

  /// To these ranks of the communicator. Nothing is said where MPI cannot be called from this thread.
  void say(const FarewellMessage& message, const std::vector<int>& ranks) noexcept;
  /// Takes in one that has come. Lets MPI make progress.
  void listen();
  /// Of this context, each rank's first one, in the order in which they came.
  std::vector<Farewell> heard(std::uint64_t context) const;
  std::vector<Note> take_notes(std::uint64_t context);

 private:
  struct Sending {
    std::shared_ptr<FarewellMessage> message;
    std::vector<mpi::Request> requests;
  };
  void forget_sent();

  std::shared_ptr<OurCommunicator> ours_;
  mutable std::mutex mutex_;
  std::vector<Sending> sending_;
  HeardFarewells heard_;
};

}  // namespace partita::runtime
