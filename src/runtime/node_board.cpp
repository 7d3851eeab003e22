#include "runtime/node_board.hpp"

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
  Word agreement;  ///< two a collective check: odd while in one
  Word failure;    ///< 0: none, else 1 + its kind
  Word left;       ///< 1: in good order, 2: as its text says
  Word circles;    ///< two a meeting of some ranks: odd while in one
  Word sends;      ///< two a wait for a receiver: odd while in one
  Word receiver;   ///< of that
  Word asked;      ///< whether it is over
  std::array<Word, NodeBoard::most_lent> lent;
  std::array<Word, 12> operation;
  std::array<Word, 12> circle;
  Word refusals;  ///< `agreement` as it was in the latest check that it came to with `refusal` only
  Word refusal_kind;
  std::array<Word, 60> refusal;     ///< fits into `last_words` behind a rank
  std::array<Word, 64> last_words;  ///< of the failure, or how it left
};

std::int64_t NodeBoard::bytes(int node_ranks) {
  const std::int64_t ranks = node_ranks;
  return ranks * ranks * static_cast<std::int64_t>(sizeof(Cell)) +
         ranks * static_cast<std::int64_t>(sizeof(Card));
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

void NodeBoard::enter_circle(std::string_view operation) {
  write_text(card(me_).circle, operation);
  count_up(card(me_).circles);
}

void NodeBoard::leave_circle() {
  count_up(card(me_).circles);
}

void NodeBoard::begin_send(int to) {
  store(card(me_).receiver, static_cast<Word>(to));
  count_up(card(me_).sends);
}

void NodeBoard::ask_about_send() {
  count_up(card(me_).asked);
}

void NodeBoard::end_send() {
  count_up(card(me_).sends);
}

void NodeBoard::fail(ErrorKind kind, std::string_view why) {
  Card& mine = card(me_);
  if (load(mine.failure) != 0) return;
  write_text(mine.last_words, why);
  store(mine.failure, 1 + static_cast<Word>(kind));
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

std::string NodeBoard::meeting(int node_rank, std::uint64_t after) const {
  Card& theirs = card(node_rank);
  if (load(theirs.circles) % 2 == 1) return read_text(theirs.circle);
  const Word agreement = load(theirs.agreement);
  return agreement % 2 == 1 && (agreement + 1) / 2 > after ? read_text(theirs.operation) : "";
}

// The counter is read on both sides of what belongs to it.
NodeBoard::Send NodeBoard::sending(int node_rank) const {
  Card& theirs = card(node_rank);
  const Word number = load(theirs.sends);
  if (number % 2 == 0) return {};
  const Send send{number, static_cast<int>(load(theirs.receiver)), load(theirs.asked)};
  return load(theirs.sends) == number ? send : Send{};
}

std::string NodeBoard::departure(int node_rank) const {
  Card& theirs = card(node_rank);
  return load(theirs.left) == 2 ? read_text(theirs.last_words) : "";
}

CaughtError NodeBoard::failure(int node_rank) const {
  Card& theirs = card(node_rank);
  const Word word = load(theirs.failure);
  if (word == 0) return {};
  return {static_cast<ErrorKind>(word - 1), read_text(theirs.last_words)};
}

}  // namespace partita::runtime
