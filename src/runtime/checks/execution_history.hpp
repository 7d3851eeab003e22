// What a rank has executed so far, for its neighbours to compare with what they have.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/board/shared_words.hpp"

namespace partita::runtime {

/// Lies in zero-initialised memory that ranks share. One rank writes, any rank and thread reads; lock-free.
///
/// The chain of execution n is a hash of what the executions 1, 2, ..., n are, in this order. Ranks need not
/// be at the same execution to be compared: once they differ, all their later chains differ too, so the
/// latest number that both know says whether they have ever differed.
class alignas(64) ExecutionHistory {
 public:
  /// So many executions may one rank be ahead of another and still be compared with it. A stream that waits
  /// for a peer holds a program up after about a thousand launches.
  static constexpr std::uint64_t reach = 1024;

  /// One more execution; gives its chain.
  std::uint64_t begin(std::uint64_t hash, std::string_view operation);

  std::uint64_t number() const { return load(number_); }  ///< of the latest: 1, 2, ...; 0: none
  /// Nothing: not begun yet, or too long ago.
  std::optional<std::uint64_t> chain(std::uint64_t number) const;
  /// The short answer to `first_difference`: true where there is none. False: ask that.
  bool agrees_at_once(const ExecutionHistory& other) const {
    const Word mine = number(), theirs = other.number(), common = std::min(mine, theirs);
    const Word chain = load(latest_[common % near]);
    return chain == load(other.latest_[common % near]) && number() - common <= near - 2 &&
           other.number() - common <= near - 2;
  }
  /// What was executed, cut to a few letters; "another operation" where that is not known any more.
  std::string operation(std::uint64_t number) const;

 private:
  static constexpr std::uint64_t named = 64;  // executions
  static constexpr std::uint64_t near = 4;    // executions
  static constexpr std::size_t name_words = 2;

  // Number and latest chains share a cache line: peers look at them in every small execution.
  mutable Word number_;
  mutable std::array<Word, near> latest_;
  mutable std::array<Word, reach> chains_;
  mutable std::array<std::array<Word, name_words>, named> names_;
};

/// The first execution, of those that both still know, in which the two differ.
std::optional<std::uint64_t> first_difference(const ExecutionHistory& mine, const ExecutionHistory& theirs);

}  // namespace partita::runtime
