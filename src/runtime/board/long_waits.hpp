// What a rank waits for longer than a moment, for its neighbours in all its contexts to see.
#pragma once

#include <vector>

#include "runtime/board/node_board.hpp"
#include "runtime/board/wait.hpp"

namespace partita::runtime {

/// The wait is over when a rank comes to the same call, or to a call that it has not come to yet.
bool is_for_a_call(const Runtime& state, const WaitReason& reason);
/// The ranks that such a wait needs.
std::vector<int> awaited_in_call(const WaitReason& reason);

/// While it lives, the boards of all contexts that the calling thread uses show this wait.
class WaitNote {
 public:
  WaitNote(const Runtime& state, const WaitReason& reason) : state_(state), reason_(reason) {}
  ~WaitNote();
  WaitNote(const WaitNote&) = delete;
  WaitNote& operator=(const WaitNote&) = delete;
  /// The ranks still waited for may be others.
  void update();

 private:
  const Runtime& state_;
  const WaitReason& reason_;
  bool is_shown_ = false;
  NodeBoard::LongWait shown_;
};

}  // namespace partita::runtime
