#include "runtime/checks/verdict.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "runtime/checks/call_notes.hpp"
#include "runtime/checks/common_facts.hpp"
#include "runtime/checks/difference.hpp"
#include "runtime/checks/node_questions.hpp"
#include "runtime/checks/public_call.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A waiting rank looks every 10 ms whether it is asked. A rank that is in no wait does not answer.
constexpr std::chrono::milliseconds answers_come_within = 1s;
constexpr std::chrono::milliseconds words_come_within = 2s;
// Ranks of several nodes that find something at the same time are notified of each other within this time.
constexpr std::chrono::milliseconds proposals_come_within = 300ms;

// --- a report as a text without zero bytes

constexpr char next_fact = '\x1e', next_part = '\x1f';

std::string report_text(const std::optional<Report>& report) {
  if (!report) return " ";
  std::string text = cut_to(report->operation, 100);
  for (const Fact& fact : report->facts) {
    const std::string more = next_fact + fact.name + next_part + cut_to(fact.value, longest_value);
    if (text.size() + more.size() <= NodeBoard::longest_answer) text += more;
  }
  return text;
}

std::optional<Report> report_from(const std::string& text) {
  if (text == " ") return std::nullopt;
  Report report;
  std::size_t at = std::min(text.find(next_fact), text.size());
  report.operation = text.substr(0, at);
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(next_fact, at + 1), text.size());
    const std::string fact = text.substr(at + 1, end - at - 1);
    const std::size_t part = std::min(fact.find(next_part), fact.size());
    report.facts.push_back({fact.substr(0, part), fact.substr(std::min(part + 1, fact.size()))});
    at = end;
  }
  return report;
}

// --- what this rank says

constexpr std::uint64_t number_bits = 60;

std::uint64_t word_of(const Question& question) {
  return static_cast<std::uint64_t>(question.about) << number_bits | question.number;
}

Question question_of(std::uint64_t word) {
  return {static_cast<Question::About>(word >> number_bits), word & ((std::uint64_t{1} << number_bits) - 1)};
}

bool is_own_thread(const Runtime& context) {
  return context.thread.load(std::memory_order_relaxed) == this_thread_mark();
}

/// The first execution of this rank that another one of the node has not begun, for which it waits in the
/// end; 0: all have begun what it has.
std::uint64_t first_execution_ahead(const NodeBoard& board) {
  const std::uint64_t mine = board.executions(board.me()).number();
  std::uint64_t fewest = mine;
  for (int number = 0; number < board.node_ranks(); ++number)
    fewest = std::min(fewest, board.executions(number).number());
  return fewest == mine ? 0 : fewest + 1;
}

/// The call that this rank is in: a check, an execution, or another one, of which nothing more is known.
/// `number`: of the execution that some rank of another node has not begun; 0: of this node.
std::optional<Report> said_of_now(const Runtime& context, std::string_view mine, std::uint64_t number) {
  if (!is_own_thread(context)) return std::nullopt;
  if (auto check = context.notes->check()) return check;
  if (number == 0) number = first_execution_ahead(*context.board);
  if (auto ahead = context.notes->execution(number, false)) return ahead;
  Report report;
  report.operation = mine;
  return report;
}

/// Whether this rank is in that execution: then the call of the program is known, too.
bool is_in(const Runtime& context, std::string_view mine, const Question& question, const Report& report) {
  return question.about == Question::About::execution && is_own_thread(context) && !context.notes->check() &&
         mine == report.operation &&
         question.number == context.board->executions(context.board->me()).number();
}

std::optional<Report> said_to(const Runtime& context, std::string_view mine, const Question& question) {
  const bool of_now = question.about == Question::About::now;
  auto report = of_now
                    ? said_of_now(context, mine, question.number)
                    : context.notes->execution(question.number, question.about == Question::About::capture);
  if (report && (of_now || is_in(context, mine, question, *report))) note_public_call(*report);
  return report;
}

// --- what all have said

std::optional<std::string> words_of(std::vector<Report> reports, const std::vector<int>& ranks,
                                    const Question& question) {
  if (reports.size() < 2) return std::nullopt;
  keep_common_facts(reports);
  std::optional<std::string> text = difference_text(reports, ranks);
  if (!text || question.about == Question::About::now) return text;
  return fmt::format("{} ({} {} of the context)", *text,
                     question.about == Question::About::capture ? "captured execution" : "execution",
                     question.number);
}

/// What this rank does while it waits for others to find words.
void wait_a_moment(Runtime& context, std::string_view mine) {
  answer_question(context, mine);
  try {
    if (is_own_thread(context)) context.group->progress();
  } catch (const std::exception&) {
    // The transport reports a rank that has ended: the words for that arrive later than those asked for.
  }
  std::this_thread::sleep_for(200us);
}

/// What a rank of another node has found, and all of its node have thrown. That a rank has ended does not
/// count.
std::optional<CaughtError> thrown_elsewhere(Runtime& context) {
  for (const Farewell& farewell : context.group->farewells(context.identity)) {
    if (!farewell.failed) continue;
    if (auto words = proposed_as(context, farewell.why)) return words;
    if (farewell.why.of_all || farewell.why.kind == ErrorKind::disagreement) return farewell.why;
  }
  return std::nullopt;
}

class Inquiry {
 public:
  Inquiry(Runtime& context, std::string_view mine, const CaughtError& found, const Question& question)
      : context_(context), board_(*context.board), mine_(mine), found_(found), question_(question) {}

  CaughtError words() {
    if (!board_.claim_verdict()) return listen();
    return words_of_all_nodes(context_, mine_, ask());
  }

 private:
  CaughtError ask() {
    board_.answer(report_text(said_to(context_, mine_, question_)));
    board_.ask(word_of(question_));
    std::vector<int> others = ranks_to_ask(context_);
    if (!others.empty() && !proposed_words(context_).empty()) others.clear();
    const std::uint64_t asked = others.empty() ? 0 : ask_nodes(context_, question_, others);
    std::map<int, Standing> answers;
    const auto all_here = [&] {
      if (asked != 0) answers = answers_of_nodes(context_, asked);
      return all_have_answered() && answers.size() == others.size();
    };
    const auto end = Clock::now() + std::min(answers_come_within, context_.options.deadline / 2);
    while (!all_here() && Clock::now() < end) wait_a_moment(context_, mine_);
    std::map<int, Report> by_rank;
    for (auto& [rank, standing] : answers)
      if (!standing.report.empty()) by_rank.emplace(rank, std::move(standing.report.front()));
    for (int number = 0; number < board_.node_ranks(); ++number) {
      const auto answer = board_.answer_of(number);
      auto report = answer ? report_from(*answer) : std::nullopt;
      if (report)
        by_rank.emplace(context_.neighbours()[static_cast<std::size_t>(number)], std::move(*report));
    }
    std::vector<Report> reports;
    std::vector<int> ranks;
    for (auto& [rank, report] : by_rank) {
      ranks.push_back(rank);
      reports.push_back(std::move(report));
    }
    if (const auto refusal = refusal_in(answers)) return *refusal;
    const auto text = words_of(std::move(reports), ranks, question_);
    return text ? CaughtError{ErrorKind::disagreement, cut_to(*text, NodeBoard::longest_failure)} : found_;
  }

  /// What keeps a rank of another node from the call that all are to come to is what all throw.
  std::optional<CaughtError> refusal_in(const std::map<int, Standing>& answers) const {
    if (question_.about != Question::About::now) return std::nullopt;
    for (const auto& [rank, standing] : answers) {
      if (!standing.refusal.empty()) return refusal_of_rank(rank, standing.refusal.front());
    }
    return std::nullopt;
  }

  bool all_have_answered() const {
    for (int number = 0; number < board_.node_ranks(); ++number) {
      const NodeBoard::Status status = board_.status(number);
      if (!board_.answer_of(number) && !status.failed && !status.left) return false;
    }
    return true;
  }

  /// Where the one that asks ends before it has found words, each rank has its own.
  CaughtError listen() {
    const int asker = board_.verdict_of().value();
    const bool of_nodes = context_.topology().node_count() > 1;
    const auto end = Clock::now() + words_come_within + (of_nodes ? words_come_within : 0s);
    while (!board_.status(asker).failed && Clock::now() < end) wait_a_moment(context_, mine_);
    return board_.status(asker).failed ? board_.failure(asker) : found_;
  }

  Runtime& context_;
  NodeBoard& board_;
  std::string_view mine_;
  const CaughtError& found_;
  const Question& question_;
};

}  // namespace

CaughtError words_of_all_nodes(Runtime& context, std::string_view mine, const CaughtError& words) {
  if (ranks_to_ask(context).empty()) return words;
  const bool is_first = proposed_words(context).empty();
  if (is_first) propose_words(context, words);
  const auto end = Clock::now() + (is_first ? proposals_come_within : words_come_within);
  while (Clock::now() < end) {
    if (const auto thrown = thrown_elsewhere(context)) return *thrown;
    wait_a_moment(context, mine);
  }
  std::map<int, CaughtError> proposals = proposed_words(context);
  if (is_first) proposals.emplace(context.rank(), words);
  return proposals.begin()->second;
}

CaughtError agreed_words(Runtime& context, std::string_view mine, const CaughtError& found,
                         const Question& question) {
  if (!context.board || context.failed()) return found;
  return Inquiry(context, mine, found, question).words();
}

void give_up_together(Runtime& context, std::string_view mine, const CaughtError& found,
                      const Question& question) {
  context.give_up(agreed_words(context, mine, found, question));
}

bool answer_question(Runtime& context, std::string_view mine) {
  if (!context.board) return false;
  std::vector<Runtime*> told;  // none is destroyed meanwhile: this thread uses them
  for_each_context_of_this_thread([&](Runtime& one) {
    if (takes_notes(one)) told.push_back(&one);
  });
  for (Runtime* const one : told)
    take_notes(
        *one, [&](const Question& question) { return said_to(*one, one == &context ? mine : "", question); });
  const std::uint64_t asked = context.board->question();
  if (asked == 0) return false;
  context.board->answer(report_text(said_to(context, mine, question_of(asked))));
  return true;
}

}  // namespace partita::runtime
