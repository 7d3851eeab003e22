#include "runtime/node_board.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include "base/check.hpp"

namespace partita {

namespace {

using Word = std::uint64_t;
static_assert(std::atomic_ref<Word>::is_always_lock_free, "signals between processes need lock-free words");

Word load(Word& word, std::memory_order order = std::memory_order_acquire) {
  return std::atomic_ref(word).load(order);
}

void store(Word& word, Word value, std::memory_order order = std::memory_order_release) {
  std::atomic_ref(word).store(value, order);
}

// Texts travel word by word, so that a reader beside a writer is no data race; the zero byte ends them.
void write_text(std::span<Word> words, std::string_view text) {
  text = text.substr(0, words.size_bytes() - 1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    Word word = 0;
    const std::string_view piece = text.substr(std::min(text.size(), i * sizeof(Word)), sizeof(Word));
    if (!piece.empty()) std::memcpy(&word, piece.data(), piece.size());
    store(words[i], word, std::memory_order_relaxed);
  }
}

std::string read_text(std::span<Word> words) {
  std::string text(words.size_bytes(), '\0');
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word word = load(words[i], std::memory_order_relaxed);
    std::memcpy(text.data() + i * sizeof(Word), &word, sizeof(Word));
  }
  return text.substr(0, text.find('\0'));
}

}  // namespace

// A cache line a pair, so that waiting for one peer does not disturb the signals of another.
struct alignas(64) NodeBoard::Cell {
  std::array<Word, NodeBoard::channels> counters;
};

struct alignas(64) NodeBoard::Card {
  Word executions;
  Word agreement;                   ///< two a collective check: odd while in one
  Word failure;                     ///< 0: none, else 1 + its kind
  Word left;                        ///< 1: in good order, 2: as its text says
  std::array<Word, 4> plan_hashes;  ///< of execution number n in place n mod 4
  std::array<Word, 12> operation;
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

void NodeBoard::begin_execution(std::uint64_t plan_hash, std::string_view operation) {
  Card& mine = card(me_);
  write_text(mine.operation, operation);
  const Word number = load(mine.executions, std::memory_order_relaxed) + 1;
  store(mine.plan_hashes[number % 4], plan_hash);
  store(mine.executions, number);
}

void NodeBoard::begin_agreement(std::string_view operation) {
  Card& mine = card(me_);
  write_text(mine.operation, operation);
  store(mine.agreement, load(mine.agreement, std::memory_order_relaxed) + 1);
}

void NodeBoard::end_agreement() {
  Card& mine = card(me_);
  store(mine.agreement, load(mine.agreement, std::memory_order_relaxed) + 1);
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
  status.executions = load(theirs.executions);
  status.agreements = (agreement + 1) / 2;
  status.plan_hash = load(theirs.plan_hashes[status.executions % 4]);
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

std::optional<std::uint64_t> NodeBoard::announced(int node_rank, std::uint64_t execution) const {
  Card& theirs = card(node_rank);
  if (load(theirs.executions) < execution) return std::nullopt;
  const Word hash = load(theirs.plan_hashes[execution % 4]);
  // Execution n + 4 is announced in the same place, after n + 3 has begun.
  if (load(theirs.executions) > execution + 2) return std::nullopt;
  return hash;
}

std::string NodeBoard::operation(int node_rank) const {
  return read_text(card(node_rank).operation);
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

}  // namespace partita
