// Failures of the stress program, and waits that make no progress.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace partita::testing {

inline constexpr int turns_of_a_context = 25;

/// What the ranks of this process have to say.
class Report {
 public:
  void fail(int rank, int seed, int turn, const std::string& call, const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (!failed_) first_turn_ = turn;
    failed_ = true;
    if (turn != first_turn_) return;  // what follows from it
    std::fprintf(stderr, "stress: rank %d, turn %d: %s\n  %s\n  again: --seed=%d --only=%d (or --from=%d)\n",
                 rank, turn, call.c_str(), what.c_str(), seed, turn, std::max(0, turn - turns_of_a_context));
    std::fflush(stderr);
  }
  bool failed() const { return failed_; }

 private:
  std::mutex mutex_;
  int first_turn_ = 0;
  std::atomic<bool> failed_{false};
};

/// Ends the process when a rank comes no further, which no deadline has found out.
class HangWatch {
 public:
  explicit HangWatch(std::chrono::seconds limit) : thread_([this, limit] { look(limit); }) {}
  ~HangWatch() {
    ending_ = true;
    thread_.join();
  }
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;
  void begin(int turn) { newest_ = turn; }

 private:
  using Clock = std::chrono::steady_clock;

  void look(std::chrono::seconds limit) {
    int seen = newest_;
    auto since = Clock::now();
    while (!ending_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (const int now = newest_; now != seen) {
        seen = now;
        since = Clock::now();
      }
      if (Clock::now() - since < limit) continue;
      std::fprintf(stderr, "stress: turn %d hangs, or its context cannot end\n", seen);
      std::fflush(nullptr);
      std::_Exit(3);
    }
  }

  std::atomic<int> newest_{-1};
  std::atomic<bool> ending_{false};
  std::thread thread_;  // last: it uses all others
};

}  // namespace partita::testing
