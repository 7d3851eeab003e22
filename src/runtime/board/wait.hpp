// The wait function. All blocking waits of the library use it: it spins, then yields, then sleeps; it
// observes the deadline, lost peers and failed neighbours; and when it gives up, it fails the context.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace partita::runtime {

struct Runtime;
class PeerWatch;
class WaitNote;

/// What is waited for, for the error text. Cheap to make: the functions are called only when something is
/// wrong.
struct WaitReason {
  std::string_view operation;                    ///< "redistribute", "allocate symmetric memory", ...
  std::function<std::string()> what = {};        ///< "the signal of rank 2" (optional detail)
  int peer = -1;                                 ///< the rank waited for; -1: several (see `peers`)
  std::function<std::vector<int>()> peers = {};  ///< the ranks still waited for
  /// So long the wait yields before it sleeps: who sleeps wakes up to a tenth of a millisecond late.
  std::chrono::milliseconds yields_for{1};
  enum class Kind : std::uint8_t {
    call,     ///< for a peer to come to this call
    signal,   ///< the same, for a signal on the board, which is there as soon as the peer has given it
    message,  ///< of point to point, which may have been sent before, or its receipt
    content,  ///< of a message that is in flight
  };
  Kind kind = Kind::call;
  /// Of a wait for a device: the ranks that have not come to what it has been given, without which it does
  /// not end.
  std::function<std::vector<int>()> late = {};
};

/// The ranks that `reason` names.
std::vector<int> awaited(const WaitReason& reason);

/// One wait in the making; `WaitLoop loop(state, reason); while (!ready()) loop.pause();` Both arguments must
/// outlive it. The state's board may still be missing.
class WaitLoop {
 public:
  WaitLoop(Runtime& state, const WaitReason& reason);
  ~WaitLoop();
  WaitLoop(const WaitLoop&) = delete;
  WaitLoop& operator=(const WaitLoop&) = delete;

  /// Spins, yields or sleeps a moment. Throws TimeoutError (deadline passed), LostPeerError (a peer waited
  /// for has ended or left the context, or its context failed), DisagreementError (peer and this rank wait
  /// for each other in different calls, or several ranks in a ring, in one context or several), or what the
  /// transport reports or `on_wait` throws, after marking the context failed; where that has failed before,
  /// what it failed of first.
  void pause();
  /// Something moved: the deadline starts anew.
  void progressed();

 private:
  using Clock = std::chrono::steady_clock;
  void yield_or_sleep();
  void progress();
  void call_on_wait();
  void look(Clock::time_point now);
  [[noreturn]] void give_up() const;

  Runtime& state_;
  const WaitReason& reason_;
  int turns_ = 0;
  std::chrono::nanoseconds nap_{};
  Clock::time_point start_{};  ///< of the time without progress; set when the spinning ends
  Clock::time_point next_look_{};
  std::unique_ptr<PeerWatch> watch_;
  std::unique_ptr<WaitNote> note_;
};

template <class Ready>
void wait_until(Runtime& state, const WaitReason& reason, Ready&& ready) {
  WaitLoop loop(state, reason);
  while (!ready()) loop.pause();
}

}  // namespace partita::runtime
