// Tables and plans that the process shares while they are in use.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace partita::kernels {

/// Thread-safe. Never destroyed where it is a static: what it knows may go in static destructors.
template <class Key, class Value>
class Known {
 public:
  /// The value of `make()` for this key, shared while it is in use.
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
