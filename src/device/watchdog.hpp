// Monitors work on streams while the host does not wait for it inside Partita.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/board/wait.hpp"

namespace partita::runtime {
class PeerWatch;
}

namespace partita::devices {

struct DeviceRuntime;

/// A thread that monitors the device: a program may wait for its streams by its own means, and a peer that
/// never arrives would block it forever. The context fails, which releases the streams, if the device has
/// been busy for longer than the deadline without a signal from a peer and without new work (not all work
/// sends signals, and a program cannot run ahead of its device indefinitely): the next call throws. The
/// caller's own kernels before Partita's count as time without progress.
///
/// The context also fails within seconds if a rank of the node has failed, or its process has ended without
/// closing the context, while the device has work or a vendor's library blocks a call; and if a rank of the
/// node executes another operation, whether the device has work or not.
class Watchdog {
 public:
  explicit Watchdog(DeviceRuntime& state);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// The device is about to be given an execution of `operation`, which counts as work of it from here on.
  void begin(std::string_view operation);
  /// It has been given all of that.
  void end() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  void watch();
  /// One look; false: there is nothing left to do for this thread.
  bool look();
  bool idle() const;
  bool cannot_be_asked() const;
  bool found_disagreement();
  bool is_overdue(std::uint64_t noted);
  void look_at_neighbours();
  std::vector<int> neighbours() const;
  void give_up();
  std::string operation() const;

  DeviceRuntime& state_;
  std::atomic<std::uint64_t> noted_{0};  // beginnings and ends: odd within an execution
  std::uint64_t settled_ = 0;            // of those noted, all are known to be done
  std::uint64_t seen_ = 0;               // of those noted, at the last look
  std::vector<std::uint64_t> signals_;
  bool disagrees_ = false;  // at the last look
  Clock::time_point moved_ = Clock::now();
  // While something waits here: for whom.
  std::string awaited_operation_;
  runtime::WaitReason reason_;
  std::unique_ptr<runtime::PeerWatch> peers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string operation_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace partita::devices
