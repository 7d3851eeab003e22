// Waits for ranks of other nodes: what the boards say of neighbours, these ranks are asked.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/board/wait.hpp"
#include "runtime/checks/error_kind.hpp"
#include "runtime/checks/node_questions.hpp"

namespace partita::runtime {

/// Belongs to one wait. Nothing is held against a rank on one answer alone.
class FarWatch {
 public:
  struct Found {
    CaughtError error;
    std::optional<Question> ask = {};
  };

  FarWatch(Runtime& state, const WaitReason& reason) : state_(state), reason_(reason) {}
  /// Why the wait cannot end: a rank has executed something else, or waits in a call that this rank has not
  /// come to.
  std::optional<Found> look(const std::vector<int>& peers, std::chrono::steady_clock::time_point now);

 private:
  using Time = std::chrono::steady_clock::time_point;
  std::vector<int> ranks_to_ask_about(const std::vector<int>& peers) const;
  std::optional<Found> judge(const std::vector<int>& peers);
  std::optional<Found> difference_from(int rank, const Standing& theirs) const;
  std::optional<Found> absence_of(int rank, const Standing& theirs, std::uint64_t place);
  std::uint64_t place_of(const Standing& theirs) const;
  bool was_there_before(int rank, std::uint64_t place);

  Runtime& state_;
  const WaitReason& reason_;
  std::optional<std::uint64_t> asked_;
  std::size_t asked_ranks_ = 0;
  Time asked_at_{}, next_{};
  std::chrono::milliseconds pause_{};
  std::map<int, Standing> answers_;
  std::map<int, std::uint64_t> places_;  ///< at the last answers
};

}  // namespace partita::runtime
