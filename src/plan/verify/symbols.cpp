#include "plan/verify/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/check.hpp"

namespace partita::verification {

ContributionSets::ContributionSets() : members_(1) {
  intern({});
}

SetId ContributionSets::intern(const Members& members) {
  const auto [place, is_new] = ids_.try_emplace(members, static_cast<SetId>(members_.size()));
  if (is_new) members_.push_back(members);
  return place->second;
}

SetId ContributionSets::first(int count) {
  Members members(static_cast<std::size_t>(count));
  std::iota(members.begin(), members.end(), 0);
  return intern(members);
}

std::optional<SetId> ContributionSets::join(SetId a, SetId b) {
  const auto found = joined_.find({a, b});
  if (found != joined_.end()) return found->second;
  const Members& left = members_[static_cast<std::size_t>(a)];
  const Members& right = members_[static_cast<std::size_t>(b)];
  Members both;
  std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  std::optional<SetId> result;
  if (both.size() == left.size() + right.size()) result = intern(both);
  joined_[{a, b}] = result;
  return result;
}

bool ContributionSets::in_order(SetId a, SetId b) const {
  const Members& before = members_[static_cast<std::size_t>(a)];
  const Members& one = members_[static_cast<std::size_t>(b)];
  return one.size() == 1 && (before.empty() || before.back() < one.front());
}

std::string ContributionSets::describe(SetId set) const {
  if (set == unwritten) return "nothing";
  if (set == identity) return "the identity";
  const Members& members = members_[static_cast<std::size_t>(set)];
  return fmt::format("contribution{} {}", members.size() > 1 ? "s" : "", fmt::join(members, "+"));
}

}  // namespace partita::verification
