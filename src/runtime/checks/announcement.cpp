#include "runtime/checks/announcement.hpp"

#include <array>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "runtime/checks/withdrawal.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

std::string text_of(const Runtime& context, std::string_view operation, const char* what,
                    std::uint64_t number, const ExecutionHistory& mine, const ExecutionHistory& theirs,
                    int node_rank) {
  const std::vector<int> neighbours = context.neighbours();
  std::array sides{std::pair(context.rank(), mine.operation(number)),
                   std::pair(neighbours[static_cast<std::size_t>(node_rank)], theirs.operation(number))};
  if (sides[1].first < sides[0].first) std::swap(sides[0], sides[1]);
  const auto& [first, second] = sides;
  const bool same_name = first.second == second.second;
  return fmt::format(
      "{}: the ranks execute different plans, arrays or factors: {} {} of this context is {} on rank {}, "
      "{}{} "
      "on rank {}",
      operation, what, number, first.second, first.first, same_name ? "another " : "", second.second,
      second.first);
}

std::optional<AnnouncedDifference> difference(const Runtime& context, std::string_view operation,
                                              bool captured, int node_rank) {
  const NodeBoard& board = *context.board;
  const auto of = [&](int number) -> const ExecutionHistory& {
    return captured ? board.captures(number) : board.executions(number);
  };
  const ExecutionHistory &mine = of(board.me()), &theirs = of(node_rank);
  const std::optional<std::uint64_t> number = first_difference(mine, theirs);
  if (!number) return std::nullopt;
  const char* const what = captured ? "captured execution" : "execution";
  return AnnouncedDifference{
      {ErrorKind::disagreement, text_of(context, operation, what, *number, mine, theirs, node_rank)},
      {captured ? Question::About::capture : Question::About::execution, *number}};
}

void give_up_if(Runtime& context, std::string_view operation,
                const std::optional<AnnouncedDifference>& found) {
  if (!found) return;
  if (may_withdraw_from(context, found->question)) throw Withdrawal();
  give_up_together(context, operation, found->error, found->question);
}

}  // namespace

Executed announce(Runtime& context, std::uint64_t hash, std::string_view operation, bool captured,
                  const ExecutionNote& note) {
  NodeBoard& board = *context.board;
  context.thread.store(this_thread_mark(), std::memory_order_relaxed);
  const std::uint64_t number =
      1 + (captured ? board.captures(board.me()) : board.executions(board.me())).number();
  const CallNotes::Arrays& arrays = context.notes->arrays();
  if (arrays.front() == 0) {
    context.notes->note(number, captured, note);
  } else {
    ExecutionNote of_arrays = note;
    of_arrays.arrays = arrays;
    for (const std::uint64_t array : arrays) hash = mix(hash, array);
    context.notes->note(number, captured, of_arrays);
  }
  return {number, captured ? board.begin_capture(hash, operation) : board.begin_execution(hash, operation)};
}

std::uint64_t history_of(const Runtime& context) {
  const NodeBoard& board = *context.board;
  std::uint64_t hash = 0;
  const auto add = [&](const ExecutionHistory& history, std::uint64_t number) {
    hash = mix(mix(hash, number), history.chain(number).value_or(0));
  };
  add(board.executions(board.me()), executions_that_count(context));
  add(board.captures(board.me()), board.captures(board.me()).number());
  return hash;
}

std::string history_text(const Runtime& context) {
  const ExecutionHistory& executions = context.board->executions(context.board->me());
  const std::uint64_t number = executions.number();
  const std::string latest =
      number == 0 ? std::string() : fmt::format(", the latest {}", executions.operation(number));
  return fmt::format("{} and {} captured{} (history {:016x})", number,
                     context.board->captures(context.board->me()).number(), latest, history_of(context));
}

std::vector<ExecutedBefore> latest_executions(const Runtime& context) {
  constexpr std::uint64_t most = 32;
  const ExecutionHistory& history = context.board->executions(context.board->me());
  const std::uint64_t number = history.number();
  std::vector<ExecutedBefore> latest;
  for (std::uint64_t i = number > most ? number - most : 1; i <= number; ++i) {
    const auto chain = history.chain(i);
    auto report = context.notes->execution(i, false);
    if (chain && report)
      latest.push_back({i, *chain, std::move(report->operation), std::move(report->facts)});
  }
  return latest;
}

void compare_announcements(Runtime& context, std::string_view operation) {
  give_up_if(context, operation, announced_difference(context, operation));
}

void compare_announcements(Runtime& context, std::string_view operation, int node_rank,
                           std::uint64_t number) {
  const NodeBoard& board = *context.board;
  const ExecutionHistory &mine = board.executions(board.me()), &theirs = board.executions(node_rank);
  const bool has_come = theirs.number() >= number;
  if (has_come && mine.agrees_at_once(theirs)) return;
  give_up_if(context, operation, difference(context, operation, false, node_rank));
  if (has_come) return;
  // What they differ in is longer ago than this rank knows.
  give_up_together(
      context, operation,
      {ErrorKind::disagreement, text_of(context, operation, "execution", number, mine, theirs, node_rank)},
      {Question::About::execution, number});
}

bool all_are_in_check(const Runtime& context) {
  if (!context.notes->is_in_check() || context.topology().node_count() > 1) return false;
  const NodeBoard& board = *context.board;
  const std::uint64_t mine = board.status(board.me()).agreements;
  for (int number = 0; number < board.node_ranks(); ++number) {
    if (board.status(number).agreements < mine) return false;
  }
  return true;
}

bool has_left_check(const Runtime& context, int node_rank) {
  if (!context.notes->is_in_check()) return false;
  const NodeBoard& board = *context.board;
  const NodeBoard::Status mine = board.status(board.me()), theirs = board.status(node_rank);
  const std::uint64_t left = theirs.agreements - (theirs.in_agreement ? 1 : 0);
  return mine.in_agreement && left >= mine.agreements;
}

std::optional<AnnouncedDifference> announced_difference(const Runtime& context, std::string_view operation) {
  const NodeBoard& board = *context.board;
  for (int number = 0; number < board.node_ranks(); ++number) {
    if (number == board.me()) continue;
    for (const bool captured : {false, true}) {
      if (auto found = difference(context, operation, captured, number)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace partita::runtime
