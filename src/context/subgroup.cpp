// Context::subgroup and split: some ranks of a context as a new context.
#include "runtime/groups/subgroup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <partita/context.hpp>
#include <vector>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "context/context_state.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/difference.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/groups/rendezvous.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/logging.hpp"

namespace partita {

namespace {

constexpr std::string_view making_subgroup = "subgroup";

/// Who meets to make the group: the ranks of the list that there are, each once, in increasing order.
std::vector<int> members(std::vector<int> ranks, int size) {
  std::erase_if(ranks, [&](int rank) { return rank < 0 || rank >= size; });
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::uint64_t identity_of(const ContextState& parent, const std::vector<int>& ranks, std::int32_t key) {
  std::uint64_t hash = mix(parent.identity, static_cast<std::uint64_t>(key));
  for (const int rank : ranks) hash = mix(hash, static_cast<std::uint64_t>(rank));
  return hash;
}

// The key of the new group, the same on its members, and claimed by all of them. A list that is wrong on one
// of them is an error on all.
std::int32_t agree_on_key(ContextState& parent, runtime::Rendezvous& rendezvous,
                          const std::vector<int>& ranks) {
  const std::vector<Fact> facts{{"the list of ranks", fmt::format("{}", fmt::join(ranks, ","))}};
  runtime::SubgroupKeys& keys = runtime::SubgroupKeys::of_process();
  while (true) {
    const auto drawn = static_cast<std::uint64_t>(keys.draw());
    const runtime::Summary all = runtime::collectively(rendezvous, making_subgroup, drawn, [&] {
      runtime::check_subgroup(ranks, parent.size(), parent.rank());
      return std::vector<Fact>(facts);
    });
    const auto key = static_cast<std::int32_t>(all.largest);
    runtime::Summary vote = runtime::Summary::of(hash_of(making_subgroup));
    vote.largest = keys.claim(key, identity_of(parent, ranks, key)) ? 0 : 1;
    if (rendezvous.join(vote).largest == 0) return key;
  }
}

/// What a rank gives to `split`.
struct Choice {
  int colour = 0;
  int key = 0;
};

/// The ranks of one colour, in the order of their keys; equal keys in that of the ranks.
std::vector<int> ranks_of_colour(const std::vector<Choice>& choices, int colour) {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(choices.size()); ++rank) {
    if (choices[static_cast<std::size_t>(rank)].colour == colour) ranks.push_back(rank);
  }
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return choices[static_cast<std::size_t>(rank)].key; });
  return ranks;
}

std::shared_ptr<ContextState> make_child(ContextState& parent, const std::vector<int>& ranks,
                                         std::int32_t key) {
  std::shared_ptr<ContextState> child = ContextState::make();
  child->options = parent.options;
  child->machine = parent.machine;
  child->threads = parent.threads;
  child->spin_turns = parent.spin_turns;
  child->identity = identity_of(parent, ranks, key);
  child->split_from = parent.first_identity();
  for (const int rank : ranks) child->ranks_there.push_back(parent.rank_of_first(rank));
  child->group = parent.group->subgroup(ranks, key);
  child->log = runtime::make_logger(child->rank(), child->size(), parent.options.log);
  if (parent.cross_memory) child->cross_memory = parent.cross_memory->of_subgroup(ranks);
  contexts::start_context(*child);
  return child;
}

}  // namespace

Context Context::subgroup(std::span<const int> ranks) const {
  check(state_ != nullptr, "the context has been moved away");
  state_->require_usable_here(making_subgroup);  // its ranks meet
  const std::vector<int> list(ranks.begin(), ranks.end());
  runtime::check_in_subgroup(list, state_->rank());
  const std::vector<int> taking_part = members(list, state_->size());
  const std::string name = fmt::format("{} of {}", making_subgroup, runtime::rank_list(taking_part));
  std::int32_t key = 0;
  {
    runtime::Rendezvous rendezvous(*state_, name, {taking_part});
    key = agree_on_key(*state_, rendezvous, list);
  }
  return Context(make_child(*state_, list, key));
}

Context Context::subgroup(std::initializer_list<int> ranks) const {
  return subgroup(std::span<const int>(ranks.begin(), ranks.size()));
}

std::optional<Context> Context::split(int colour, int key) const {
  check(state_ != nullptr, "the context has been moved away");
  state_->require_usable("split");
  const std::vector<Choice> choices = runtime::exchange_values(*state_, "split", Choice{colour, key});
  if (colour < 0) return std::nullopt;
  return subgroup(ranks_of_colour(choices, colour));
}

}  // namespace partita
