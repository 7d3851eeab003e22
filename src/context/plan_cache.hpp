// Bound plans that a context keeps, so that one-line calls are as fast as plans.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "context/plan_key.hpp"

namespace partita::contexts {

/// The values are the operations' own. The least recently used plans are dropped when there are too many, or
/// when they have too much memory. All ranks make the same calls and give the same numbers of bytes, so all
/// ranks keep the same plans. See `kept_plan` (context/kept_plans.hpp).
class PlanCache {
 public:
  /// Of plans that are inserted from here on: so many are kept, at least one.
  void set_capacity(int plans) { capacity_ = static_cast<std::size_t>(plans); }
  /// Bytes of all plans; 0: `largest_plans` times the largest plan, at least `always_kept`.
  void set_most_bytes(std::int64_t bytes) { most_bytes_ = bytes; }
  static constexpr std::int64_t largest_plans = 8, always_kept = std::int64_t{256} << 20;

  std::shared_ptr<void> find(const PlanKey& key);  ///< null: none; else it is now the most recently used
  /// For one more: the least recently used are dropped, if all places are taken. Comes before the next plan
  /// is made and agreed on, which has their memory then (of a device that contexts share:
  /// PhysicalDevice::collect).
  void make_room();
  /// There has been made room for it. `bytes`: the same on all ranks. Drops others while all plans together
  /// have too many.
  void insert(const PlanKey& key, std::shared_ptr<void> plan, std::int64_t bytes = 0);
  /// The plan of that key, if it is there, has so many bytes more.
  void add_bytes(const PlanKey& key, std::int64_t bytes);
  /// Drops the less recently used half, one plan at least. False: there is none.
  bool drop_half();
  /// The plan of that key; where there is none, what `make` gives, which is kept from then on. For what has
  /// little memory and is made by each rank on its own.
  template <class Plan, class Make>
  std::shared_ptr<Plan> find_or_make(const PlanKey& key, const Make& make) {
    if (const auto found = find(key)) return std::static_pointer_cast<Plan>(found);
    make_room();
    std::shared_ptr<Plan> made = make();
    insert(key, made);
    return made;
  }
  void clear();
  /// Drops all plans, except those that are still in use.
  void forget() noexcept;
  std::size_t size() const { return entries_.size(); }
  /// One number for the keys and their order, the same on all ranks.
  std::uint64_t hash_of_keys() const;
  std::int64_t bytes() const { return bytes_; }

  /// Keeps a plan that is still in use, even if it is evicted, until `user` has expired and `collect` is
  /// called.
  void pin(std::weak_ptr<const void> user, std::shared_ptr<void> plan);
  void collect();
  std::size_t pinned() const { return pins_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const PlanKey& key) const { return key.hash(); }
  };
  struct Entry {
    PlanKey key;
    std::shared_ptr<void> plan;
    std::int64_t bytes = 0;
  };
  struct Pin {
    std::weak_ptr<const void> user;
    std::shared_ptr<void> plan;
  };
  void drop_last();
  void drop_beyond_most_bytes();

  std::size_t capacity_ = 64;
  std::int64_t most_bytes_ = 0;
  std::int64_t bytes_ = 0;    // of all entries
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<PlanKey, std::list<Entry>::iterator, Hash> index_;
  std::vector<Pin> pins_;
};

}  // namespace partita::contexts
