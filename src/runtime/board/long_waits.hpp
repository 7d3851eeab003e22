// What a rank waits for longer than a moment, for its neighbours in all its contexts to see: two contexts
// that ranks use in different orders wait for each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/board/node_board.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/error_kind.hpp"

namespace partita::runtime {

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

/// Looks whether a rank waited for waits, in another context, for this one: neither comes.
class OtherContextWatch {
 public:
  OtherContextWatch(Runtime& state, const WaitReason& reason) : state_(state), reason_(reason) {}
  /// What both contexts must fail of, once it has been so for longer than what was sent before takes: the
  /// other one has failed then.
  std::optional<CaughtError> look(const std::vector<int>& peers, std::chrono::steady_clock::time_point now);

 private:
  bool has_not_come(int number) const;
  Runtime* context_of(const NodeBoard::LongWait& theirs) const;

  Runtime& state_;
  const WaitReason& reason_;
  struct Seen {
    std::uint64_t wait = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::map<int, Seen> seen_;  // by rank
};

}  // namespace partita::runtime
