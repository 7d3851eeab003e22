// The views that calls have been checked for: repeated calls are recognised by comparing numbers.
#pragma once

#include <array>
#include <cstddef>
#include <partita/view.hpp>
#include <span>

namespace partita::execution {

/// The latest few sets of at most two views that have passed an operation's checks. Whether a set is known is
/// this rank's own matter: only time is saved. Not thread-safe.
class CheckedViews {
 public:
  bool know(std::span<const View> views, bool has_stream) const;
  void add(std::span<const View> views, bool has_stream);

 private:
  struct Entry {
    std::array<View, 2> views;
    std::size_t count = 0;
    bool has_stream = false;
  };
  static constexpr std::size_t most = 8;

  std::array<Entry, most> entries_;  // by count: the first few
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace partita::execution
