// Copies into the memory of other ranks of the node, and the signals before and after.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "plan/plan_builder.hpp"

namespace partita::planning {

/// A number for each peer, in the order in which peers were counted first.
class PeerCounts {
 public:
  void add(int peer, std::int64_t count) {
    const auto [at, is_new] = index_.try_emplace(peer, counts_.size());
    if (is_new) counts_.emplace_back(peer, 0);
    counts_[at->second].second += count;
  }
  const std::vector<std::pair<int, std::int64_t>>& all() const { return counts_; }

 private:
  std::vector<std::pair<int, std::int64_t>> counts_;
  std::map<int, std::size_t> index_;
};

/// Givers copy into their takers' memory. The taker signals `grant`, once, the giver `written` as often as
/// both know.
class PeerPuts {
 public:
  explicit PeerPuts(PlanBuilder& builder) : builder_(builder) {}

  // --- the taker's side
  /// The giver may begin. Nobody waits before it has granted all.
  void grant(int giver) {
    builder_.signal(giver, Channel::grant);
    expected_.add(giver, 0);
  }
  /// So many more signals will come: `close` waits for them.
  void expect(int giver, std::int64_t signals = 1) { expected_.add(giver, signals); }
  /// Waits for the signal of that number (from 1 on), unless that has been done.
  void await(int giver, std::int64_t number) {
    std::int64_t& arrived = arrived_[giver];
    if (number <= arrived) return;
    builder_.wait_for(giver, Channel::written, number - arrived);
    arrived = number;
  }
  /// For so many more.
  void await_more(int giver, std::int64_t signals) { await(giver, arrived_[giver] + signals); }
  void close() {
    for (const auto& [giver, signals] : expected_.all()) await(giver, signals);
  }

  // --- the giver's side
  /// Before the first copy to a taker; `put` does it where that has not been done.
  void await_grant(int taker) {
    if (granted_.insert(taker).second) builder_.wait(taker, Channel::grant);
  }
  void put(int taker, Region region, const Place& from, const Place& to) {
    await_grant(taker);
    builder_.copy(builder_.rank(), std::move(region), from, to);
  }
  /// A region of this rank's part of a buffer into the same buffer of all takers, with a signal to each.
  void put_to_all(std::span<const int> takers, const Region& region, int buffer) {
    for (const int taker : takers) {
      put(taker, region, builder_.own(buffer), {buffer, taker, 0, {}});
      tell(taker);
    }
  }
  /// What has been put so far is there.
  void tell(int taker) { builder_.signal(taker, Channel::written); }

 private:
  PlanBuilder& builder_;
  PeerCounts expected_;
  std::map<int, std::int64_t> arrived_;
  std::set<int> granted_;
};

}  // namespace partita::planning
