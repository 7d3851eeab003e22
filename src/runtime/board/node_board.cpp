#include "runtime/board/node_board.hpp"

#include <array>

#include "base/check.hpp"

namespace partita::runtime {

// A cache line a pair, so that waiting for one peer does not disturb the signals of another.
struct alignas(64) NodeBoard::Cell {
  std::array<Word, NodeBoard::channels> counters;
};

struct alignas(64) NodeBoard::Card {
  ExecutionHistory executions;
  ExecutionHistory captures;
  Word agreement;         ///< two a collective check: odd while in one
  Word failure;           ///< 0: none, else 1 + its kind
  Word left;              ///< 1: in good order, 2: as its text says
  Word rendezvous_count;  ///< two per rendezvous of some ranks: odd while in one
  std::array<Word, NodeBoard::most_lent> lent;
  std::array<Word, 12> operation;
  std::array<Word, 12> rendezvous_name;
  Word refusals;  ///< `agreement` as it was in the latest check that it came to with `refusal` only
  Word refusal_kind;
  std::array<Word, 60> refusal;                                 ///< fits into `last_words` behind a rank
  std::array<Word, longest_failure / sizeof(Word)> last_words;  ///< of the failure, or how it left
  Word waits;                                                   ///< two a long wait: odd while in one
  Word wait_context;
  Word wait_rank;
  Word wait_for_message;
  std::array<Word, LongWait::most_ranks / 64> awaited;
  std::array<Word, 12> wait_operation;
  Word answered;  ///< 1: `answer` is there
  std::array<Word, longest_answer / sizeof(Word)> answer;
};

// What does not belong to one rank: of the first that finds the ranks in disagreement.
struct alignas(64) NodeBoard::Table {
  Word verdict;   ///< 1 + its number; 0: none
  Word question;  ///< to all
};

std::int64_t NodeBoard::bytes(int node_ranks) {
  const std::int64_t ranks = node_ranks;
  return ranks * ranks * static_cast<std::int64_t>(sizeof(Cell)) +
         ranks * static_cast<std::int64_t>(sizeof(Card)) + static_cast<std::int64_t>(sizeof(Table));
}

NodeBoard::NodeBoard(void* memory, int node_ranks, int my_node_rank)
    : memory_(memory), node_ranks_(node_ranks), me_(my_node_rank) {
  invariant(reinterpret_cast<std::uintptr_t>(memory) % alignof(Cell) == 0, "the node board is not aligned");
  invariant(me_ >= 0 && me_ < node_ranks_, "node rank {} is not one of {}", me_, node_ranks_);
}

NodeBoard::Cell& NodeBoard::cell(int from, int to) const {
  return static_cast<Cell*>(memory_)[from * node_ranks_ + to];
}

NodeBoard::Card& NodeBoard::card(int node_rank) const {
  return reinterpret_cast<Card*>(static_cast<Cell*>(memory_) + node_ranks_ * node_ranks_)[node_rank];
}

NodeBoard::Table& NodeBoard::table() const {
  return *reinterpret_cast<Table*>(&card(node_ranks_));
}

void NodeBoard::signal(int to, int channel) {
  // Only this rank writes the word: no read-modify-write is needed.
  Word& word = cell(me_, to).counters[static_cast<std::size_t>(channel)];
  store(word, load(word, std::memory_order_relaxed) + 1);
}

std::uint64_t NodeBoard::counter(int from, int channel) const {
  return load(cell(from, me_).counters[static_cast<std::size_t>(channel)]);
}

std::uint64_t NodeBoard::begin_execution(std::uint64_t hash, std::string_view operation) {
  return card(me_).executions.begin(hash, operation);
}

std::uint64_t NodeBoard::begin_capture(std::uint64_t hash, std::string_view operation) {
  return card(me_).captures.begin(hash, operation);
}

const ExecutionHistory& NodeBoard::executions(int node_rank) const {
  return card(node_rank).executions;
}

const ExecutionHistory& NodeBoard::captures(int node_rank) const {
  return card(node_rank).captures;
}

void NodeBoard::lend(std::size_t buffer, std::uint64_t address) {
  store(card(me_).lent.at(buffer), address);
}

std::uint64_t NodeBoard::lent(int node_rank, std::size_t buffer) const {
  return load(card(node_rank).lent.at(buffer));
}

void NodeBoard::begin_agreement(std::string_view operation, const CaughtError* refusal) {
  Card& mine = card(me_);
  write_text(mine.operation, operation);
  const Word next = load(mine.agreement, std::memory_order_relaxed) + 1;
  if (refusal != nullptr) {
    write_text(mine.refusal, refusal->text);
    store(mine.refusal_kind, static_cast<Word>(refusal->kind));
    store(mine.refusals, next);
  }
  store(mine.agreement, next);
}

void NodeBoard::end_agreement() {
  Card& mine = card(me_);
  store(mine.agreement, load(mine.agreement, std::memory_order_relaxed) + 1);
}

namespace {

void count_up(Word& word) {  // only this rank writes it
  store(word, load(word, std::memory_order_relaxed) + 1);
}

}  // namespace

void NodeBoard::enter_rendezvous(std::string_view operation) {
  write_text(card(me_).rendezvous_name, operation);
  count_up(card(me_).rendezvous_count);
}

void NodeBoard::leave_rendezvous() {
  count_up(card(me_).rendezvous_count);
}

void NodeBoard::fail(const CaughtError& why) {
  Card& mine = card(me_);
  if (load(mine.failure) != 0) return;
  write_text(mine.last_words, why.text);
  store(mine.failure, 2 * (1 + static_cast<Word>(why.kind)) + (why.of_all ? 1 : 0));
}

void NodeBoard::leave(std::string_view how) {
  Card& mine = card(me_);
  if (load(mine.left) != 0) return;
  if (!how.empty()) write_text(mine.last_words, how);
  store(mine.left, how.empty() ? 1 : 2);
}

NodeBoard::Status NodeBoard::read(int node_rank) const {
  Card& theirs = card(node_rank);
  const Word agreement = load(theirs.agreement);
  Status status;
  status.executions = theirs.executions.number();
  status.agreements = (agreement + 1) / 2;
  status.in_agreement = agreement % 2 == 1;
  status.failed = load(theirs.failure) != 0;
  status.left = load(theirs.left) != 0;
  return status;
}

// Counters only grow: two equal readings, one after the other, mean that nothing changed in between, so all
// fields stood like this at one moment (the double collect of Afek et al. 1993).
NodeBoard::Status NodeBoard::status(int node_rank) const {
  Status before = read(node_rank);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const Status after = read(node_rank);
    if (after == before) break;
    before = after;
  }
  return before;
}

std::string NodeBoard::operation(int node_rank) const {
  return read_text(card(node_rank).operation);
}

std::optional<CaughtError> NodeBoard::refusal(int node_rank) const {
  Card& theirs = card(node_rank);
  const Word latest = load(theirs.agreement);
  if (latest == 0 || latest != load(theirs.refusals)) return std::nullopt;
  return CaughtError{static_cast<ErrorKind>(load(theirs.refusal_kind)), read_text(theirs.refusal)};
}

std::string NodeBoard::rendezvous(int node_rank, std::uint64_t after) const {
  Card& theirs = card(node_rank);
  if (load(theirs.rendezvous_count) % 2 == 1) return read_text(theirs.rendezvous_name);
  const Word agreement = load(theirs.agreement);
  return agreement % 2 == 1 && (agreement + 1) / 2 > after ? read_text(theirs.operation) : "";
}

std::string NodeBoard::departure(int node_rank) const {
  Card& theirs = card(node_rank);
  return load(theirs.left) == 2 ? read_text(theirs.last_words) : "";
}

bool NodeBoard::LongWait::waits_for(int other) const {
  return other >= 0 && other < most_ranks &&
         (awaited[static_cast<std::size_t>(other / 64)] >> (other % 64) & 1U) != 0;
}

void NodeBoard::begin_long_wait(const LongWait& wait) {
  end_long_wait();
  Card& mine = card(me_);
  store(mine.wait_context, wait.context);
  store(mine.wait_rank, static_cast<Word>(wait.rank));
  store(mine.wait_for_message, wait.for_message ? 1 : 0);
  for (std::size_t i = 0; i < mine.awaited.size(); ++i) store(mine.awaited[i], wait.awaited[i]);
  write_text(mine.wait_operation, wait.operation);
  count_up(mine.waits);
}

void NodeBoard::end_long_wait() {
  Card& mine = card(me_);
  if (load(mine.waits, std::memory_order_relaxed) % 2 == 1) count_up(mine.waits);
}

NodeBoard::LongWait NodeBoard::long_wait(int node_rank) const {
  Card& theirs = card(node_rank);
  LongWait wait;
  wait.number = load(theirs.waits);
  if (wait.number % 2 == 0) return {};
  wait.context = load(theirs.wait_context);
  wait.rank = static_cast<int>(load(theirs.wait_rank));
  wait.for_message = load(theirs.wait_for_message) != 0;
  for (std::size_t i = 0; i < wait.awaited.size(); ++i) wait.awaited[i] = load(theirs.awaited[i]);
  wait.operation = read_text(theirs.wait_operation);
  return load(theirs.waits) == wait.number ? wait : LongWait{};
}

bool NodeBoard::claim_verdict() {
  return claim(table().verdict, static_cast<Word>(me_) + 1);
}

std::optional<int> NodeBoard::verdict_of() const {
  const Word word = load(table().verdict);
  return word == 0 ? std::nullopt : std::optional(static_cast<int>(word) - 1);
}

void NodeBoard::ask(std::uint64_t question) {
  store(table().question, question);
}

std::uint64_t NodeBoard::question() const {
  return load(table().question);
}

void NodeBoard::answer(std::string_view text) {
  Card& mine = card(me_);
  if (load(mine.answered) != 0) return;
  write_text(mine.answer, text);
  store(mine.answered, 1);
}

std::optional<std::string> NodeBoard::answer_of(int node_rank) const {
  Card& theirs = card(node_rank);
  return load(theirs.answered) == 0 ? std::nullopt : std::optional(read_text(theirs.answer));
}

CaughtError NodeBoard::failure(int node_rank) const {
  Card& theirs = card(node_rank);
  const Word word = load(theirs.failure);
  if (word == 0) return {};
  return {static_cast<ErrorKind>(word / 2 - 1), read_text(theirs.last_words), word % 2 == 1};
}

}  // namespace partita::runtime
