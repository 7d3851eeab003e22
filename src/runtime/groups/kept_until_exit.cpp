#include "runtime/groups/kept_until_exit.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace partita::runtime {

namespace {

struct Owner {
  std::mutex mutex;
  std::vector<std::shared_ptr<void>> things;
};

// Never destroyed: the things outlive the static destructors too.
Owner& owner() {
  static auto* const instance = new Owner;
  return *instance;
}

}  // namespace

void keep_until_exit(std::shared_ptr<void> thing) noexcept {
  try {
    const std::lock_guard lock(owner().mutex);
    owner().things.push_back(thing);
  } catch (...) {
    static_cast<void>(new (std::nothrow) std::shared_ptr<void>(std::move(thing)));
  }
}

}  // namespace partita::runtime
