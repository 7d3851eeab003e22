#include "runtime/checks/rank_zero.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {

namespace {

thread_local const RankZeroScope* innermost = nullptr;

}  // namespace

RankZeroScope::RankZeroScope(const Runtime& state) noexcept : state_(state), outer_(innermost) {
  innermost = this;
}

RankZeroScope::~RankZeroScope() {
  innermost = outer_;
}

bool RankZeroScope::holds_up(const Runtime& called, const std::vector<int>& members) const {
  // Alone, too: so a program that will hang on more ranks is found out on one.
  if (&called == &state_ && members.empty()) return true;
  if (called.first_identity() != state_.first_identity()) return false;
  const auto waits_here = [&](int rank) {
    const int first = called.rank_of_first(rank);
    if (first == state_.rank_of_first(state_.rank())) return false;
    for (int other = 0; other < state_.size(); ++other) {
      if (state_.rank_of_first(other) == first) return true;
    }
    return false;
  };
  if (!members.empty()) return std::any_of(members.begin(), members.end(), waits_here);
  for (int rank = 0; rank < called.size(); ++rank) {
    if (waits_here(rank)) return true;
  }
  return false;
}

bool in_rank_zero() noexcept {
  return innermost != nullptr;
}

void refuse_in_rank_zero(const Runtime& state, std::string_view operation, const std::vector<int>& members) {
  for (const RankZeroScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    check(
        !scope->holds_up(state, members),
        "{}: called inside rank_zero, while the other ranks wait for rank 0 and cannot take part: call it on "
        "all ranks, before or after rank_zero",
        operation);
  }
}

}  // namespace partita::runtime
