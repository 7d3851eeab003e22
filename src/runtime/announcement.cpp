#include "runtime/announcement.hpp"

#include <array>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
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

std::optional<std::string> difference(const Runtime& context, std::string_view operation, const char* what,
                                      const ExecutionHistory& mine, const ExecutionHistory& theirs,
                                      int node_rank) {
  const std::optional<std::uint64_t> number = first_difference(mine, theirs);
  if (!number) return std::nullopt;
  return text_of(context, operation, what, *number, mine, theirs, node_rank);
}

std::optional<std::string> difference_of_executions(const Runtime& context, std::string_view operation,
                                                    int node_rank) {
  const NodeBoard& board = *context.board;
  return difference(context, operation, "execution", board.executions(board.me()),
                    board.executions(node_rank), node_rank);
}

void fail_if(Runtime& context, const std::optional<std::string>& text) {
  if (!text) return;
  context.fail(*text, ErrorKind::disagreement);
  throw DisagreementError(*text);
}

}  // namespace

Executed announce(Runtime& context, std::uint64_t hash, std::string_view operation, bool captured) {
  NodeBoard& board = *context.board;
  if (captured) {
    const std::uint64_t chain = board.begin_capture(hash, operation);
    return {board.captures(board.me()).number(), chain};
  }
  const std::uint64_t chain = board.begin_execution(hash, operation);
  return {board.executions(board.me()).number(), chain};
}

std::uint64_t history_of(const Runtime& context) {
  const NodeBoard& board = *context.board;
  std::uint64_t hash = 0;
  for (const ExecutionHistory* history : {&board.executions(board.me()), &board.captures(board.me())}) {
    const std::uint64_t number = history->number();
    hash = mix(mix(hash, number), history->chain(number).value_or(0));
  }
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

void compare_announcements(Runtime& context, std::string_view operation) {
  fail_if(context, announced_difference(context, operation));
}

void compare_announcements(Runtime& context, std::string_view operation, int node_rank) {
  const NodeBoard& board = *context.board;
  if (board.executions(board.me()).agrees_at_once(board.executions(node_rank))) return;
  fail_if(context, difference_of_executions(context, operation, node_rank));
}

std::optional<std::string> announced_difference(const Runtime& context, std::string_view operation) {
  const NodeBoard& board = *context.board;
  for (int number = 0; number < board.node_ranks(); ++number) {
    if (number == board.me()) continue;
    if (auto text = difference_of_executions(context, operation, number)) return text;
    auto text = difference(context, operation, "captured execution", board.captures(board.me()),
                           board.captures(number), number);
    if (text) return text;
  }
  return std::nullopt;
}

}  // namespace partita::runtime
