#include "base/default_variable.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <vector>

namespace partita {
namespace {

/// What others may still be reading: until the process ends.
struct Kept {
  std::mutex mutex;
  std::deque<std::string> entries;
  std::deque<std::vector<char*>> arrays;

  /// A copy of the entries, but for `entry`.
  std::vector<char*>& copy_without(const char* entry, char** entries_now) {
    std::vector<char*>& copy = arrays.emplace_back();
    for (; entries_now != nullptr && *entries_now != nullptr; ++entries_now) {
      if (*entries_now != entry) copy.push_back(*entries_now);
    }
    return copy;
  }
};

// Never destroyed: libraries start in static destructors, too.
Kept& kept() {
  static auto* const instance = new Kept;
  return *instance;
}

std::atomic_ref<char**> environment() {
  return std::atomic_ref(environ);
}

}  // namespace

DefaultVariable::DefaultVariable(const std::string& name, const std::string& value) {
  const std::lock_guard lock(kept().mutex);
  if (std::getenv(name.c_str()) != nullptr) return;
  entry_ = kept().entries.emplace_back(name + "=" + value).data();
  before_ = environment().load();
  std::vector<char*>& with = kept().copy_without(nullptr, before_);
  with.insert(with.end(), {entry_, nullptr});
  with_ = with.data();
  environment().store(with_);
}

DefaultVariable::~DefaultVariable() {
  if (entry_ == nullptr) return;
  const std::lock_guard lock(kept().mutex);
  char** const now = environment().load();
  if (now == with_) {
    environment().store(before_);
    return;
  }
  // Somebody has set something meanwhile, and that stays.
  std::vector<char*>& without = kept().copy_without(entry_, now);
  without.push_back(nullptr);
  environment().store(without.data());
}

}  // namespace partita
