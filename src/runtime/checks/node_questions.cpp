#include "runtime/checks/node_questions.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/serialize.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {

auto members_of(is_a<CaughtError> auto& error) {
  return std::tie(error.kind, error.text);
}
auto members_of(is_a<Standing::Wait> auto& wait) {
  return std::tie(wait.number, wait.context, wait.for_message, wait.awaited, wait.operation);
}
auto members_of(is_a<Standing> auto& one) {
  return std::tie(one.executions, one.agreements, one.in_agreement, one.chains, one.operation, one.refusal,
                  one.report, one.wait);
}

namespace {

constexpr int most_ranks = 64;  // that all ask and answer each other
constexpr std::uint64_t known_chains = 32;
constexpr std::size_t most_facts = 24;

constexpr std::uint64_t most_answers = 4;  // numbers of questions
constexpr std::size_t most_probes = 256;

struct Asked {
  std::uint64_t number;
  Question question;
};

struct Answer {
  std::uint64_t number = 0;
  Standing standing;
};
auto members_of(is_a<Answer> auto& answer) {
  return std::tie(answer.number, answer.standing);
}

std::uint64_t topic_of_words(const Runtime& context) {
  return mix(context.identity, 3);
}

// A text is sent in pieces that are as long as farewells can be; the last one is shorter.
constexpr std::size_t note_bytes = longest_farewell;

void say(Runtime& context, std::uint64_t topic, std::string_view text) {
  for (std::size_t piece = 0;; ++piece) {
    const std::string_view part = text.substr(std::min(text.size(), piece * note_bytes), note_bytes);
    context.group->say_farewell(
        {mix(topic, piece), context.rank(), false, {ErrorKind::error, std::string(part)}});
    if (part.size() < note_bytes) return;
  }
}

/// By the ranks of other nodes; what is not whole yet is left out.
std::map<int, std::string> said(const Runtime& context, std::uint64_t topic) {
  std::map<int, std::string> begun, whole;
  for (std::size_t piece = 0; piece == 0 || !begun.empty(); ++piece) {
    std::map<int, std::string> longer;
    for (const Farewell& note : context.group->farewells(mix(topic, piece))) {
      if (note.failed || note.why.kind != ErrorKind::error || note.rank < 0 || note.rank >= context.size())
        continue;
      // Pieces come in their order, but while they are looked for.
      if (piece > 0 && !begun.contains(note.rank)) continue;
      if (context.topology().same_node(note.rank, context.rank())) continue;
      const std::string text = begun[note.rank] + note.why.text;
      (note.why.text.size() < note_bytes ? whole : longer)[note.rank] = text;
    }
    begun = std::move(longer);
  }
  return whole;
}

/// As much of a report as is worth a few messages.
Report shortened(Report report) {
  if (report.facts.size() > most_facts) report.facts.resize(most_facts);
  for (Fact& fact : report.facts) fact.value = cut_to(std::move(fact.value), longest_value);
  report.executed.clear();
  return report;
}

}  // namespace

bool Standing::Wait::is_for(int other) const {
  const auto word = static_cast<std::size_t>(other / 64);
  return word < awaited.size() && (awaited[word] >> (other % 64) & 1U) != 0;
}

std::optional<std::uint64_t> Standing::chain(std::uint64_t number) const {
  if (number == 0 || number > executions || executions - number >= chains.size()) return std::nullopt;
  return chains[chains.size() - 1 - static_cast<std::size_t>(executions - number)];
}

Standing Standing::of(const Runtime& context) {
  const NodeBoard& board = *context.board;
  const int me = board.me();
  const NodeBoard::Status status = board.status(me);
  Standing result;
  result.executions = status.executions;
  result.agreements = status.agreements;
  result.in_agreement = status.in_agreement ? 1 : 0;
  for (std::uint64_t n = status.executions > known_chains ? status.executions - known_chains + 1 : 1;
       n <= status.executions; ++n)
    result.chains.push_back(board.executions(me).chain(n).value_or(0));
  result.operation = board.operation(me);
  if (auto refusal = board.refusal(me)) result.refusal.push_back(*std::move(refusal));
  const NodeBoard::LongWait wait = board.long_wait(me);
  if (wait.number == 0) return result;
  result.wait = {wait.number,
                 wait.context,
                 static_cast<std::uint8_t>(wait.for_message ? 1 : 0),
                 {wait.awaited.begin(), wait.awaited.end()},
                 wait.operation};
  return result;
}

NotesOfNodes& notes_of_nodes(Runtime& context) {
  return static_cast<NotesOfNodes&>(*context.notes);
}

void note_work_of_all(Runtime& context) {
  notes_of_nodes(context).latest_of_all = context.board->executions(context.board->me()).number();
}

bool takes_notes(const Runtime& context) {
  return context.board && context.thread.load(std::memory_order_relaxed) == this_thread_mark();
}

std::vector<int> ranks_to_ask(const Runtime& context) {
  std::vector<int> ranks;
  if (!takes_notes(context) || context.size() > most_ranks) return ranks;
  for (int rank = 0; rank < context.size(); ++rank)
    if (!context.topology().same_node(rank, context.rank())) ranks.push_back(rank);
  return ranks;
}

std::uint64_t ask_nodes(Runtime& context, const Question& question, const std::vector<int>& ranks) {
  NotesOfNodes& notes = notes_of_nodes(context);
  const Asked asked{++notes.asked, question};
  notes.answers[asked.number];
  std::erase_if(notes.answers,
                [&](const auto& answers) { return answers.first + most_answers <= asked.number; });
  for (const int rank : ranks) notes.mail.tell(context, rank, MailTopic::question, serialize(asked));
  return asked.number;
}

const std::map<int, Standing>& answers_of_nodes(Runtime& context, std::uint64_t number) {
  return notes_of_nodes(context).answers[number];
}

void take_notes(Runtime& context, const std::function<std::optional<Report>(const Question&)>& report) {
  NotesOfNodes& notes = notes_of_nodes(context);
  for (const RankMail::Text& text : notes.mail.take(context)) {
    if (text.topic == MailTopic::question) {
      const auto asked = deserialize<Asked>(text.text);
      Answer answer{asked.number, Standing::of(context)};
      if (auto mine = report(asked.question)) answer.standing.report.push_back(shortened(*std::move(mine)));
      notes.mail.tell(context, text.from, MailTopic::answer, serialize(answer));
    } else if (text.topic == MailTopic::answer) {
      auto answer = deserialize<Answer>(text.text);
      const auto found = notes.answers.find(answer.number);
      if (found != notes.answers.end()) found->second.insert_or_assign(text.from, std::move(answer.standing));
    } else if (text.topic == MailTopic::probe || text.topic == MailTopic::ring) {
      if (notes.probes.size() == most_probes) notes.probes.pop_front();
      notes.probes.push_back(deserialize<RingProbe>(text.text));
    }
  }
}

void propose_words(Runtime& context, const CaughtError& words) {
  say(context, topic_of_words(context), serialize(words));
}

std::map<int, CaughtError> proposed_words(const Runtime& context) {
  std::map<int, CaughtError> words;
  for (const auto& [rank, text] : said(context, topic_of_words(context)))
    words.emplace(rank, deserialize<CaughtError>(text));
  return words;
}

std::optional<CaughtError> proposed_as(const Runtime& context, const CaughtError& heard) {
  if (context.topology().node_count() == 1 || heard.text.empty()) return std::nullopt;
  for (auto& [rank, words] : proposed_words(context))
    if (words.text.starts_with(heard.text)) return std::move(words);
  return std::nullopt;
}

}  // namespace partita::runtime
