// Which of two ways is faster on this machine: the first calls of a kind find out.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace partita::scalapack {

/// Who computes a call: the next routine of the name, or we.
enum class Way { theirs, ours };

/// The calls of one kind, which take turns until one way has won: in each of `rounds` rounds a row of calls
/// is forwarded to ScaLAPACK and then a row to us. Rows, because the effects of a call are part of its price:
/// after ScaLAPACK's, processes continue at different times, and the next call waits for the last of them. So
/// the first call of a row is not timed; it may also be the one that makes our plan. The first row is
/// ScaLAPACK's, as the calls may be few. A row takes as long as its slowest process. Who is faster in most
/// rounds wins: neighbours are compared, as a machine's speed changes. Every process makes the same calls and
/// judges the same times, so every process takes the same way. Not thread-safe.
class Trial {
 public:
  static constexpr int rounds = 5;  ///< odd
  static constexpr int row = 4;     ///< calls, of which the first is not timed
  static constexpr int rows = 2 * rounds;
  static constexpr int calls = rows * row;
  /// Ours may take so many times as long as theirs: less is not a difference that a row can show.
  static constexpr double tie = 1.02;

  /// Of the call that comes.
  Way way() const {
    if (decided_) return winner_;
    return calls_ / row % 2 == 0 ? Way::theirs : Way::ours;
  }
  bool decided() const { return decided_; }

  /// Notes the time that this process spent in the call that came, in nanoseconds. True: it was the last of
  /// them, so decide() must follow. Not to be called after the decision.
  bool finish(std::int64_t nanoseconds) {
    if (calls_ % row != 0) times_[static_cast<std::size_t>(calls_ / row)] += nanoseconds;
    ++calls_;
    return calls_ == calls;
  }
  /// This process's times, in the order of the rows.
  std::span<const std::int64_t> times() const { return times_; }
  /// `times` of every process, one after the other, the same on all processes.
  void decide(std::span<const std::int64_t> of_all) {
    std::array<std::int64_t, rows> slowest{};
    for (std::size_t i = 0; i < of_all.size(); ++i)
      slowest[i % rows] = std::max(slowest[i % rows], of_all[i]);
    int won = 0;
    for (std::size_t round = 0; round < slowest.size(); round += 2) {
      if (static_cast<double>(slowest[round + 1]) <= tie * static_cast<double>(slowest[round])) ++won;
    }
    winner_ = won > rounds / 2 ? Way::ours : Way::theirs;
    decided_ = true;
  }

 private:
  bool decided_ = false;
  Way winner_ = Way::theirs;
  int calls_ = 0;
  std::array<std::int64_t, rows> times_{};
};

/// The trials of a grid. All its processes make the same calls, so all hold the same ones.
class Trials {
 public:
  static constexpr std::size_t most = 1024;

  /// Of calls of that key (see CallKey). Begins one where there is none. When there are too many, all are
  /// forgotten, on all processes alike. Valid until the next call of this function.
  Trial& of(std::uint64_t key) {
    const auto found = trials_.find(key);
    if (found != trials_.end()) return found->second;
    if (trials_.size() == most) trials_.clear();
    return trials_[key];
  }
  std::size_t size() const { return trials_.size(); }

 private:
  std::unordered_map<std::uint64_t, Trial> trials_;
};

}  // namespace partita::scalapack
