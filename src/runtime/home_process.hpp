// Which process something belongs to. A fork has a copy of it, but neither its threads nor its place among
// the ranks.
#pragma once

#include <cstdint>

namespace partita::runtime {

/// Made in the process that it names. Any thread.
class HomeProcess {
 public:
  HomeProcess();
  /// False in a child that fork() has made since. No system call: for every call and every destructor.
  bool is_here() const noexcept;
  std::int64_t number() const { return number_; }

 private:
  std::uint64_t forks_;  ///< number of forks between the first process and this one
  std::int64_t number_;
};

}  // namespace partita::runtime
