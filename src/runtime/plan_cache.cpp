#include "runtime/plan_cache.hpp"

namespace partita {

std::shared_ptr<void> PlanCache::find(const std::string& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().plan;
}

void PlanCache::insert(const std::string& key, std::shared_ptr<void> plan) {
  if (entries_.size() == capacity_) {
    index_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({key, std::move(plan)});
  index_[entries_.front().key] = entries_.begin();
}

}  // namespace partita
