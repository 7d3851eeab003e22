#include "execute/lent_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/hash.hpp"
#include "runtime/board/shared_words.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/announcement.hpp"
#include "runtime/groups/rendezvous.hpp"

namespace partita::execution {
namespace {

/// In front of what is exchanged: the number of the check, and what all ranks must have alike.
constexpr std::size_t heading = 2;

std::vector<Fact> facts_of(const Plan& plan) {
  std::vector<Fact> facts = plan.identity;
  facts.push_back({"plan", fmt::format("{:016x}", plan.hash())});
  return facts;
}

/// Each rank has a place for checks of even numbers and one for those of odd numbers. Nobody leaves a check
/// before all have come to it, and so nobody comes to the one after the next while another rank still reads
/// of this one.
Buffer places(std::size_t words) {
  Buffer buffer;
  buffer.name = "lent words";
  buffer.kind = BufferKind::shared;
  buffer.bytes = static_cast<std::int64_t>(2 * (heading + words) * sizeof(runtime::Word));
  return buffer;
}

}  // namespace

LentWords::LentWords(ContextState& context, const Plan& plan, std::size_t words)
    : context_(context),
      operation_(plan.operation),
      facts_(facts_of(plan)),
      is_one_node_(context.device_topology.node_count() == 1 && context.topology().node_count() == 1),
      mine_(words),
      all_(words * static_cast<std::size_t>(context.size())),
      shared_(context, places(words)) {
  if (!is_one_node_) return;
  for (const std::uint64_t number : {0U, 1U}) runtime::store(*place(context.rank(), number), 0);
  runtime::barrier(context, operation_);
}

std::uint64_t* LentWords::place(int rank, std::uint64_t number) const {
  return reinterpret_cast<runtime::Word*>(shared_.on_rank(rank)) + number % 2 * (heading + mine_.size());
}

void LentWords::offer(std::uint64_t number, std::uint64_t alike) {
  runtime::Word* const words = place(context_.rank(), number);
  for (std::size_t i = 0; i < mine_.size(); ++i)
    runtime::store(words[heading + i], mine_[i], std::memory_order_relaxed);
  runtime::store(words[1], alike, std::memory_order_relaxed);
  runtime::store(words[0], number);
}

/// Waits until all ranks have made their offer for the check of that number: false if one of them has come to
/// another check.
bool LentWords::all_come(const runtime::Rendezvous& rendezvous, std::uint64_t number) const {
  for (int rank = 0; rank < context_.size(); ++rank) {
    const auto offers = [&] { return runtime::load(*place(rank, number)) == number; };
    if (offers()) continue;
    const runtime::WaitReason reason{operation_, [] { return std::string("the addresses of its arrays"); },
                                     rank, [&] { return rendezvous.not_here(rank); }};
    bool has_come = false;
    runtime::wait_until(context_, reason, [&] {
      has_come =
          context_.board->status(rank).agreements >= number;  // before the offer, which is made before it
      return has_come || offers();
    });
    if (!offers()) return false;
  }
  return true;
}

bool LentWords::read_all(std::uint64_t number, std::uint64_t alike) {
  bool agrees = true;
  auto next = all_.begin();
  for (int rank = 0; rank < context_.size(); ++rank) {
    runtime::Word* const words = place(rank, number);
    agrees = agrees && runtime::load(words[1], std::memory_order_relaxed) == alike;
    for (std::size_t i = 0; i < mine_.size(); ++i)
      *next++ = runtime::load(words[heading + i], std::memory_order_relaxed);
  }
  return agrees;
}

void LentWords::exchange() {
  context_.require_alive(operation_);
  const runtime::NodeBoard& board = *context_.board;
  const std::uint64_t number = board.status(board.me()).agreements + 1;  // as the others see it
  const std::uint64_t alike = mix(hash_of(operation_), runtime::history_of(context_));
  const bool is_shared = is_one_node_ && context_.agreement_depth == 0;
  if (is_shared) offer(number, alike);
  runtime::Rendezvous rendezvous(context_, operation_);
  if (is_shared && all_come(rendezvous, number) && read_all(number, alike)) return;
  const std::string_view bytes(reinterpret_cast<const char*>(mine_.data()),
                               mine_.size() * sizeof(runtime::Word));
  std::size_t start = 0;
  for (const std::string& theirs : runtime::exchange(rendezvous, bytes, facts_)) {
    std::memcpy(all_.data() + start, theirs.data(), std::min(theirs.size(), bytes.size()));
    start += mine_.size();
  }
}

}  // namespace partita::execution
