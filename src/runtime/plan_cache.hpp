// Bound plans that a context keeps, so that one-line calls are as fast as plans.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace partita {

/// Keyed by a text of operation, operands and options; the values are the operations' own. The least recently
/// used plan goes when there are too many. All ranks make the same calls, so all ranks keep the same plans.
class PlanCache {
 public:
  /// Of plans that are inserted from here on: so many are kept, at least one.
  void set_capacity(int plans) { capacity_ = static_cast<std::size_t>(plans); }

  std::shared_ptr<void> find(const std::string& key);  ///< null: none; else it is now the most recently used
  void insert(const std::string& key, std::shared_ptr<void> plan);
  void clear() { index_.clear(), entries_.clear(); }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<void> plan;
  };
  std::size_t capacity_ = 64;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> index_;
};

}  // namespace partita
