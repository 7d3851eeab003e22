// Sets of indices along one dimension, the basis of all distributions.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <partita/export.hpp>
#include <partita/language.hpp>
#include <span>
#include <string>
#include <vector>

namespace partita {

namespace distribution {
struct IndexSetState;
}

/// The indices { first + i * period + j : 0 <= i < count, 0 <= j < length }.
/// `length < period` if count > 1; `period == length` if count == 1.
struct Interval {
  std::int64_t first = 0;
  std::int64_t length = 0;
  std::int64_t period = 0;
  std::int64_t count = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A finite set of non-negative indices, stored as a union of disjoint intervals. Equal sets compare equal. A
/// value, cheap to copy (shared, immutable); thread-safe for reading. Nothing in it communicates.
///
/// The elements are numbered by increasing index: this number is the *position*, the local index of the
/// element on the rank that owns the set.
class PARTITA_API IndexSet {
 public:
  IndexSet() = default;                                          ///< the empty set
  static IndexSet range(std::int64_t first, std::int64_t last);  ///< [first, last); empty if last <= first
  /// The indices below `extent` of the blocks [first + i * period, first + i * period + length), i = 0, 1,
  /// ...
  static IndexSet cyclic(std::int64_t first, std::int64_t length, std::int64_t period, std::int64_t extent);
  /// The union of disjoint intervals, in any order. Throws ArgumentError if they overlap.
  static IndexSet of(const std::vector<Interval>& intervals);

  std::int64_t size() const { return size_; }       ///< number of elements
  bool empty() const { return size_ == 0; }         ///< whether there are no elements
  std::int64_t front() const;                       ///< smallest index; the set must not be empty
  std::int64_t back() const;                        ///< largest index; the set must not be empty
  bool is_range() const;                            ///< contiguous; true for the empty set
  bool contains(std::int64_t index) const;          ///< whether `index` is an element
  std::int64_t position(std::int64_t index) const;  ///< number of elements smaller than `index`
  std::int64_t at(std::int64_t position) const;  ///< inverse of position; throws ArgumentError out of range

  /// The intervals, ordered by `first`. Intervals may interleave (two periods repeat with their least common
  /// multiple), so their order is not that of the elements. Intervals of count 1 are never adjacent. The span
  /// is valid as long as any copy of this set exists.
  std::span<const Interval> intervals() const;

  /// The common elements. Cost: proportional to the intervals of the result, not to the elements, because two
  /// periods repeat with their least common multiple (or to the runs of the overlap, if there are fewer).
  /// Each run of an interval of the result is inside one run of `a` and one run of `b`, and a step by its
  /// `period` changes the positions in `a` and in `b` by constants.
  friend PARTITA_API IndexSet intersect(const IndexSet& a, const IndexSet& b);

  /// The set with `offset` added to every index; indices below 0 are dropped.
  IndexSet shifted(std::int64_t offset) const;

  friend PARTITA_API bool operator==(const IndexSet& a,
                                     const IndexSet& b);  ///< whether the elements are the same

 private:
  friend struct distribution::IndexSetState;
  std::shared_ptr<const distribution::IndexSetState> state_;  // null: the empty set
  std::int64_t size_ = 0;
};

PARTITA_API IndexSet intersect(const IndexSet& a, const IndexSet& b);

/// Text form: "[0,128)+512*3, [1536,1600)", "empty".
PARTITA_API std::string to_string(const IndexSet& set);
PARTITA_API std::ostream& operator<<(std::ostream& stream, const IndexSet& set);

}  // namespace partita
