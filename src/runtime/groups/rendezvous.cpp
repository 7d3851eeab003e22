#include "runtime/groups/rendezvous.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/announcement.hpp"
#include "runtime/checks/common_facts.hpp"
#include "runtime/checks/difference.hpp"
#include "runtime/checks/node_questions.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/checks/rank_zero.hpp"
#include "runtime/checks/withdrawal.hpp"
#include "runtime/groups/control_messages.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"
#include "runtime/uncaught_errors.hpp"

namespace partita::runtime {

namespace {

// What travels in a round of `join`: plain bytes.
struct RoundMessage {
  std::uint64_t of_members = 0;
  std::uint64_t number = 0;
  Summary summary;
  // For errors, of the sender: what it is in, and with whom (bits, of the first ranks) where not with all.
  std::array<char, 112> operation{};
  std::array<std::uint64_t, 4> members{};
};
static_assert(std::is_trivially_copyable_v<RoundMessage>);

constexpr int bits = 64;

void note_ranks(const std::vector<int>& ranks, std::span<std::uint64_t> words) {
  for (const int rank : ranks) {
    const auto word = static_cast<std::size_t>(rank / bits);
    if (word < words.size()) words[word] |= std::uint64_t{1} << (rank % bits);
  }
}

std::vector<int> ranks_of(std::span<const std::uint64_t> words) {
  std::vector<int> ranks;
  for (int rank = 0; rank < bits * static_cast<int>(words.size()); ++rank) {
    if ((words[static_cast<std::size_t>(rank / bits)] >> (rank % bits) & 1U) != 0) ranks.push_back(rank);
  }
  return ranks;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::uint64_t hash_of_members(const std::vector<int>& members) {
  std::uint64_t hash = members.size();
  for (const int member : members) hash = mix(hash, static_cast<std::uint64_t>(member));
  return hash;
}

}  // namespace

Summary Summary::of(std::uint64_t operation, std::uint64_t facts) {
  Summary summary;
  summary.operation_smallest = summary.operation_largest = operation;
  summary.facts_smallest = summary.facts_largest = facts;
  return summary;
}

void Summary::join(const Summary& other) {
  operation_smallest = std::min(operation_smallest, other.operation_smallest);
  operation_largest = std::max(operation_largest, other.operation_largest);
  facts_smallest = std::min(facts_smallest, other.facts_smallest);
  facts_largest = std::max(facts_largest, other.facts_largest);
  history_smallest = std::min(history_smallest, other.history_smallest);
  history_largest = std::max(history_largest, other.history_largest);
  bytes_smallest = std::min(bytes_smallest, other.bytes_smallest);
  bytes_largest = std::max(bytes_largest, other.bytes_largest);
  threw = std::max(threw, other.threw);
  largest = std::max(largest, other.largest);
  executions = std::max(executions, other.executions);
  withdrew = std::max(withdrew, other.withdrew);
}

class Rendezvous::Messages : public ControlMessages {
 public:
  explicit Messages(const Rendezvous& rendezvous)
      : ControlMessages(rendezvous.state_, rendezvous.operation_,
                        [&rendezvous](int peer) { return rendezvous.not_here(peer); }) {}
};

Rendezvous::Rendezvous(Runtime& state, std::string_view operation, Members members,
                       const CaughtError* refusal)
    : state_(state), operation_(operation), members_(std::move(members)) {
  state_.require_alive(operation_);
  refuse_in_rank_zero(state_, operation_, members_.ranks);
  if (state_.board && state_.agreement_depth == 0) refuse_failed_neighbours(state_, operation_);
  if (members_.ranks.size() == static_cast<std::size_t>(state_.size())) members_.ranks.clear();
  size_ = of_all() ? state_.size() : static_cast<int>(members_.ranks.size());
  const auto place = std::find(members_.ranks.begin(), members_.ranks.end(), state_.rank());
  position_ = of_all() ? state_.rank() : static_cast<int>(place - members_.ranks.begin());
  members_hash_ = hash_of_members(members_.ranks);
  if (of_all() && state_.agreement_depth == 0) {
    ++state_.agreements;
    if (state_.board) state_.board->begin_agreement(operation_, refusal);
  }
  if (!of_all() && state_.board) state_.board->enter_rendezvous(operation_);
  ++state_.agreement_depth;
  state_.thread.store(this_thread_mark(), std::memory_order_relaxed);
}

Rendezvous::~Rendezvous() {
  --state_.agreement_depth;
  // After a failure the board still shows where this rank stopped.
  if (!state_.board || state_.failed()) return;
  if (!of_all()) state_.board->leave_rendezvous();
  if (of_all() && state_.agreement_depth == 0) state_.board->end_agreement();
}

int Rendezvous::rank(int position) const {
  return of_all() ? position : members_.ranks[static_cast<std::size_t>(position)];
}

int Rendezvous::at(int distance) const {
  return rank((position_ + distance % size_ + size_) % size_);
}

CallNotes& Rendezvous::notes() const {
  return *state_.notes;
}

std::uint64_t Rendezvous::hash_of_plans() const {
  return of_all() ? state_.hash_of_plans() : 0;
}

void Rendezvous::forget_plans() {
  state_.forget_plans();
}

std::uint64_t Rendezvous::number() const {
  return of_all() ? state_.agreements : 0;
}

// On this node it is known who has not come yet; of other nodes, only whose message is missing.
std::vector<int> Rendezvous::not_here(int awaited) const {
  std::vector<int> missing;
  if (of_all() && state_.board) {
    const auto mine = state_.board->status(state_.board->me());
    const std::vector<int> neighbours = state_.neighbours();
    for (int number = 0; number < state_.board->node_ranks(); ++number) {
      const auto theirs = state_.board->status(number);
      if (theirs.agreements < mine.agreements)
        missing.push_back(neighbours[static_cast<std::size_t>(number)]);
    }
    if (missing.empty() || state_.topology().same_node(awaited, state_.rank())) {
      return missing.empty() ? std::vector<int>{awaited} : missing;
    }
  }
  missing.insert(std::lower_bound(missing.begin(), missing.end(), awaited), awaited);
  return missing;
}

// The messages of the calls are mixed up for good: the context cannot go on. What the other members of either
// rendezvous are in, the node sees once they have come.
void Rendezvous::refuse(int peer, const std::string& theirs, const std::vector<int>& their_members) {
  constexpr auto others_come_within = std::chrono::seconds(1);
  std::map<int, std::string> calls{{state_.rank(), std::string(operation_)}, {peer, theirs}};
  // Who is still in a check of all that this rank has left, comes yet.
  const std::uint64_t begun = state_.board ? state_.board->status(state_.board->me()).agreements : 0;
  const std::uint64_t before = begun - (of_all() && begun > 0 ? 1 : 0);
  std::vector<int> awaited;  // empty if both are of all ranks: those are in calls of any number
  const bool of_some = !of_all() || !their_members.empty();
  for (int rank = 0; rank < state_.size() && of_some; ++rank) {
    const bool mine = of_all() || std::ranges::binary_search(members_.ranks, rank);
    const bool other = their_members.empty() || std::ranges::binary_search(their_members, rank);
    if (mine || other) awaited.push_back(rank);
  }
  const auto have_come = [&] {
    std::erase_if(awaited, [&](int rank) {
      const std::optional<int> number = number_on_board(state_, rank);
      if (!number || calls.contains(rank)) return true;
      std::string rendezvous = state_.board->rendezvous(*number, before);
      return !rendezvous.empty() && calls.emplace(rank, std::move(rendezvous)).second;
    });
    return awaited.empty();
  };
  const auto until = std::chrono::steady_clock::now() + others_come_within;
  const WaitReason reason{.operation = operation_};
  WaitLoop loop(state_, reason);
  while (!have_come() && std::chrono::steady_clock::now() < until) loop.pause();
  if (of_some) {
    if (const auto refusal = refusal_on_node(state_))
      state_.give_up(words_of_all_nodes(state_, operation_, *refusal));
  }
  std::vector<int> ranks;
  std::vector<std::string> names;
  for (auto& [rank, name] : calls) {
    ranks.push_back(rank);
    names.push_back(std::move(name));
  }
  const CaughtError found{ErrorKind::disagreement,
                          "the ranks called different operations: " + values_of_ranks(names, ranks)};
  if (state_.topology().node_count() > 1) give_up_together(state_, operation_, found, Question{});
  state_.give_up(found);
}

void Rendezvous::report_history(Report& report, bool only) const {
  if (only) {
    report.error.kind = ErrorKind::disagreement;  // the context fails; what was thrown says why
    report.facts = {{executed_before, history_text(state_)}};
  }
  if (report.executed.empty()) report.executed = latest_executions(state_);
}

void Rendezvous::note_withdrawal(Report& report) const {
  runtime::note_withdrawal(state_, report);
}

void Rendezvous::start_anew(const Summary& all) {
  runtime::start_anew(state_, all.executions);
}

void Rendezvous::end_withdrawal() {
  withdrawals_of(state_).under_way = false;
}

void Rendezvous::fail(const CaughtError& why) {
  state_.fail({why.kind, why.text, of_all()});
}

void Rendezvous::note_told(std::string_view text) {
  if (!of_all()) return;
  state_.told = {std::string(text), state_.agreements};
  note_error_of_all(state_.rank(), text);
}

Summary Rendezvous::join(Summary summary) {
  if (of_all() && state_.board) {
    summary.history_smallest = summary.history_largest = history_of(state_);
    summary.executions = state_.board->executions(state_.board->me()).number();
  }
  Messages messages(*this);
  // After the round of distance d I know the summary of the 2d members that end with me.
  for (int distance = 1; distance < size_; distance *= 2) {
    RoundMessage mine{
        .of_members = members_hash_, .number = number(), .summary = summary, .operation = {}, .members = {}};
    operation_.copy(mine.operation.data(), mine.operation.size() - 1);
    note_ranks(members_.ranks, mine.members);
    messages.send(at(distance), std::as_bytes(std::span(&mine, 1)));
    const int peer = at(-distance);
    RoundMessage theirs;
    std::memcpy(&theirs, messages.receive(peer, sizeof(theirs)).data(), sizeof(theirs));
    if (theirs.of_members != mine.of_members || theirs.number != mine.number)
      refuse(peer, theirs.operation.data(), ranks_of(theirs.members));
    summary.join(theirs.summary);
  }
  messages.finish();
  return summary;
}

std::vector<std::string> Rendezvous::gather(std::string_view mine, bool equal_sizes) {
  const auto bytes = static_cast<std::int64_t>(mine.size());
  const auto sizes =
      equal_sizes ? std::vector<std::int64_t>(static_cast<std::size_t>(size_), bytes) : gather_sizes(bytes);
  return gather_pieces(mine, sizes);
}

std::vector<std::int64_t> Rendezvous::gather_sizes(std::int64_t mine) {
  const std::vector<std::int64_t> equal(static_cast<std::size_t>(size_), sizeof(mine));
  std::vector<std::int64_t> sizes;
  for (const std::string& piece : gather_pieces(serialize(mine), equal)) {
    sizes.push_back(deserialize<std::int64_t>(piece));
  }
  return sizes;
}

std::vector<std::string> Rendezvous::gather_pieces(std::string_view mine,
                                                   const std::vector<std::int64_t>& sizes) {
  Messages messages(*this);
  // Before the round of distance d I hold the pieces of the d members that begin with me; I get the next ones
  // from the member at distance d, and give what I hold to the one at distance -d.
  const auto size_at = [&](int position) {
    return static_cast<std::size_t>(sizes[static_cast<std::size_t>((position_ + position) % size_)]);
  };
  std::string held(mine);
  for (int distance = 1; distance < size_; distance *= 2) {
    const int count = std::min(distance, size_ - distance);
    std::size_t sent = 0, received = 0;
    for (int i = 0; i < count; ++i) sent += size_at(i), received += size_at(distance + i);
    if (sent > 0) messages.send(at(-distance), bytes_of(held).first(sent));
    if (received == 0) continue;
    const auto bytes = messages.receive(at(distance), received);
    held.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  messages.finish();
  std::vector<std::string> pieces(static_cast<std::size_t>(size_));
  std::size_t start = 0;
  for (int i = 0; i < size_; ++i) {
    pieces[static_cast<std::size_t>((position_ + i) % size_)] = held.substr(start, size_at(i));
    start += size_at(i);
  }
  return pieces;
}

}  // namespace partita::runtime
