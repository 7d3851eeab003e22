#include "context/plan_cache.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"

namespace partita::contexts {

std::shared_ptr<void> PlanCache::find(const PlanKey& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().plan;
}

void PlanCache::make_room() {
  // More than the capacity are there where plans were made while others were.
  while (entries_.size() >= capacity_) drop_last();
}

void PlanCache::insert(const PlanKey& key, std::shared_ptr<void> plan, std::int64_t bytes) {
  entries_.push_front({key, std::move(plan), bytes});
  index_[key] = entries_.begin();
  bytes_ += bytes;
  drop_beyond_most_bytes();
}

void PlanCache::add_bytes(const PlanKey& key, std::int64_t bytes) {
  const auto found = index_.find(key);
  if (found == index_.end()) return;
  found->second->bytes += bytes;
  bytes_ += bytes;
  drop_beyond_most_bytes();
}

bool PlanCache::drop_half() {
  if (entries_.empty()) return false;
  for (std::size_t left = entries_.size() / 2; entries_.size() > left;) drop_last();
  return true;
}

void PlanCache::drop_last() {
  bytes_ -= entries_.back().bytes;
  index_.erase(entries_.back().key);
  const Entry last = std::move(entries_.back());  // its destructor finds the cache in order
  entries_.pop_back();
}

void PlanCache::drop_beyond_most_bytes() {
  std::int64_t most = most_bytes_;
  if (most == 0) {
    for (const Entry& entry : entries_) most = std::max(most, largest_plans * entry.bytes);
    most = std::max(most, always_kept);
  }
  while (bytes_ > most && entries_.size() > 1) drop_last();
}

void PlanCache::clear() {
  index_.clear();
  entries_.clear();
  bytes_ = 0;
  pins_.clear();
}

void PlanCache::forget() noexcept {
  index_.clear();
  entries_.clear();
  bytes_ = 0;
}

std::uint64_t PlanCache::hash_of_keys() const {
  std::uint64_t hash = entries_.size();
  for (const Entry& entry : entries_) hash = mix(hash, entry.key.hash());
  return hash;
}

void PlanCache::pin(std::weak_ptr<const void> user, std::shared_ptr<void> plan) {
  collect();
  pins_.push_back({std::move(user), std::move(plan)});
}

void PlanCache::collect() {
  std::erase_if(pins_, [](const Pin& pin) { return pin.user.expired(); });
}

}  // namespace partita::contexts
