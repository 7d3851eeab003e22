#include "runtime/groups/subgroup.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/check.hpp"

namespace partita::runtime {

int check_subgroup(const std::vector<int>& ranks, int size, int caller) {
  std::vector<bool> named(static_cast<std::size_t>(size));
  for (const int rank : ranks) {
    check(rank >= 0 && rank < size, "subgroup: rank {} is not one of the {} ranks", rank, size);
    check(!named[static_cast<std::size_t>(rank)], "subgroup: rank {} is named twice", rank);
    named[static_cast<std::size_t>(rank)] = true;
  }
  return check_in_subgroup(ranks, caller);
}

int check_in_subgroup(const std::vector<int>& ranks, int caller) {
  const auto place = std::find(ranks.begin(), ranks.end(), caller);
  check(place != ranks.end(), "subgroup: the calling rank {} is not in the list of ranks", caller);
  return static_cast<int>(place - ranks.begin());
}

Topology subgroup_topology(const Topology& topology, const std::vector<int>& ranks) {
  std::unordered_map<int, int> numbers;
  std::vector<int> nodes;
  nodes.reserve(ranks.size());
  for (const int rank : ranks) {
    const int next = static_cast<int>(numbers.size());
    nodes.push_back(numbers.try_emplace(topology.node(rank), next).first->second);
  }
  return Topology::of(std::move(nodes));
}

SubgroupKeys& SubgroupKeys::of_process() {
  static auto* const instance = new SubgroupKeys;  // never destroyed: contexts may be made in destructors
  return *instance;
}

std::int32_t SubgroupKeys::draw() {
  const std::lock_guard lock(mutex_);
  return next_++;
}

bool SubgroupKeys::claim(std::int32_t key, std::uint64_t owner) {
  const std::lock_guard lock(mutex_);
  next_ = std::max(next_, key + 1);
  return owners_.try_emplace(key, owner).first->second == owner;
}

}  // namespace partita::runtime
