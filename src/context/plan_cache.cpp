#include "context/plan_cache.hpp"

#include <utility>

#include "base/hash.hpp"

namespace partita::contexts {

std::shared_ptr<void> PlanCache::find(const std::string& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().plan;
}

void PlanCache::make_room() {
  // More than the capacity are there where plans were made while others were.
  while (entries_.size() >= capacity_) {
    index_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

void PlanCache::insert(const std::string& key, std::shared_ptr<void> plan) {
  entries_.push_front({key, std::move(plan)});
  index_[entries_.front().key] = entries_.begin();
}

void PlanCache::clear() {
  index_.clear();
  entries_.clear();
  pins_.clear();
  kept_.clear();  // plans may use these
}

void PlanCache::forget() noexcept {
  index_.clear();
  entries_.clear();
}

std::uint64_t PlanCache::hash_of_keys() const {
  std::uint64_t hash = entries_.size();
  for (const Entry& entry : entries_) hash = mix(hash, hash_of(entry.key));
  return hash;
}

std::shared_ptr<void> PlanCache::find_kept(const std::string& key) const {
  const auto found = kept_.find(key);
  return found == kept_.end() ? nullptr : found->second;
}

void PlanCache::keep(const std::string& key, std::shared_ptr<void> thing) {
  kept_[key] = std::move(thing);
}

void PlanCache::pin(std::weak_ptr<const void> user, std::shared_ptr<void> plan) {
  collect();
  pins_.push_back({std::move(user), std::move(plan)});
}

void PlanCache::collect() {
  std::erase_if(pins_, [](const Pin& pin) { return pin.user.expired(); });
}

}  // namespace partita::contexts
