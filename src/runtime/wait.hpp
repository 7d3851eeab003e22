// The one wait. Every blocking wait of the library goes through here: it spins, then yields, then sleeps; it
// keeps the deadline; it notices lost peers and failed neighbours; and when it gives up, it fails the
// context.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

struct ContextState;

/// What is waited for, for the error text. Cheap to make: the functions are called only when something is
/// wrong.
struct WaitReason {
  std::string_view operation;                    ///< "redistribute", "allocate symmetric memory", ...
  std::function<std::string()> what = {};        ///< "the signal of rank 2" (optional detail)
  int peer = -1;                                 ///< the rank waited for; -1: several (see `peers`)
  std::function<std::vector<int>()> peers = {};  ///< the ranks still waited for
};

/// One wait in the making; `WaitLoop loop(state, reason); while (!ready()) loop.pause();`
class WaitLoop {
 public:
  WaitLoop(ContextState& state, const WaitReason& reason) : state_(state), reason_(reason) {}
  /// Spins, yields or sleeps a moment. Throws TimeoutError (deadline passed), LostPeerError (a peer waited
  /// for has ended or its context failed) after marking the context failed.
  void pause();
  /// Something moved: the deadline starts anew.
  void progressed();

 private:
  void check_peers();
  ContextState& state_;
  const WaitReason& reason_;
  std::int64_t turns_ = 0;
  std::chrono::steady_clock::time_point start_{};
};

template <class Ready>
void wait_until(ContextState& state, const WaitReason& reason, Ready&& ready) {
  WaitLoop loop(state, reason);
  while (!ready()) loop.pause();
}

}  // namespace partita
