#include "runtime/groups/keeper.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace partita::runtime {

namespace {

struct Keeper {
  std::mutex mutex;
  std::vector<std::shared_ptr<void>> things;
};

// Never destroyed: the things outlive the static destructors too.
Keeper& keeper() {
  static auto* const instance = new Keeper;
  return *instance;
}

}  // namespace

void keep_until_exit(std::shared_ptr<void> thing) noexcept {
  try {
    const std::lock_guard lock(keeper().mutex);
    keeper().things.push_back(thing);
  } catch (...) {
    static_cast<void>(new (std::nothrow) std::shared_ptr<void>(std::move(thing)));
  }
}

}  // namespace partita::runtime
