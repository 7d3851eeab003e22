// What many ask for and few make: tables and plans that all of the process share while somebody holds them.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace partita::kernels {

/// Thread-safe. Never destroyed where it is a static: what it knows may go in static destructors.
template <class Key, class Value>
class Known {
 public:
  /// What `make()` gave for this key, while somebody holds it.
  template <class Make>
  std::shared_ptr<const Value> find_or_make(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<const Value>& entry = entries_[key];
    if (auto value = entry.lock()) return value;
    std::shared_ptr<const Value> value = make();
    entry = value;
    return value;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Value>> entries_;
};

}  // namespace partita::kernels
