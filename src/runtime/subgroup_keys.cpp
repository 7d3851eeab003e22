#include "runtime/subgroup_keys.hpp"

#include <algorithm>

namespace partita {

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

}  // namespace partita
