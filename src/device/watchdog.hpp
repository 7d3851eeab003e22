// Looks after work that a context has put into streams while nobody waits for it here.
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

/// A thread that sees whether the device gets on: a program may wait for its streams by means of its own, and
/// a peer that never comes would keep it for ever. When the device has had work for longer than the deadline,
/// no signal has arrived from anybody and it has been given nothing more (not all that ends sends signals,
/// and a program cannot run ahead of its device for ever), the context fails, which lets the streams go: the
/// next call on it throws. Work that is no exchange with peers (the caller's own kernels in front of ours)
/// counts as time without progress, too.
///
/// So it does, some seconds later, where a rank of the node has failed or its process has ended without
/// having given up the context, while the device has work or a vendor's library keeps a call. And so it does
/// within some seconds, whether the device has work or not, where a rank of the node executes something else.
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
