#include "runtime/board/long_waits.hpp"

#include <utility>

#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {

bool is_for_a_call(const Runtime& state, const WaitReason& reason) {
  return (reason.peer >= 0 || reason.late) && reason.kind != WaitReason::Kind::content && state.board;
}

std::vector<int> awaited_in_call(const WaitReason& reason) {
  return reason.late ? reason.late() : awaited(reason);
}

void WaitNote::update() {
  if (!is_for_a_call(state_, reason_)) return;
  NodeBoard::LongWait wait;
  wait.context = state_.identity;
  wait.rank = state_.rank();
  wait.for_message = reason_.kind == WaitReason::Kind::message;
  wait.operation = reason_.operation;
  for (const int rank : awaited_in_call(reason_)) {
    if (rank < NodeBoard::LongWait::most_ranks)
      wait.awaited[static_cast<std::size_t>(rank / 64)] |= std::uint64_t{1} << (rank % 64);
  }
  if (is_shown_ && wait.awaited == shown_.awaited) return;
  for_each_context_of_this_thread([&](Runtime& context) { context.board->begin_long_wait(wait); });
  is_shown_ = true;
  shown_ = std::move(wait);
}

WaitNote::~WaitNote() {
  if (!is_shown_) return;
  for_each_context_of_this_thread([](Runtime& context) { context.board->end_long_wait(); });
}

}  // namespace partita::runtime
