// Sets of indices along one dimension: the ground that every distribution stands on.
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
/// `length < period` where count > 1; `period == length` where count == 1.
struct Interval {
  std::int64_t first = 0;
  std::int64_t length = 0;
  std::int64_t period = 0;
  std::int64_t count = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A finite set of non-negative indices as a union of disjoint intervals. Equal sets compare equal. A value,
/// cheap to copy (shared, immutable); reading from several threads is fine. Nothing in it communicates.
///
/// The elements of a set are numbered by increasing index: this number is the *position*, which is where the
/// element lies in the local part of the rank that owns the set.
class PARTITA_API IndexSet {
 public:
  IndexSet() = default;                                          ///< the empty set
  static IndexSet range(std::int64_t first, std::int64_t last);  ///< [first, last); empty if last <= first
  /// The part below `extent` of the blocks [first + i * period, first + i * period + length), i = 0, 1, ...
  static IndexSet cyclic(std::int64_t first, std::int64_t length, std::int64_t period, std::int64_t extent);
  /// Any disjoint intervals (in any order). Throws ArgumentError where they overlap.
  static IndexSet of(const std::vector<Interval>& intervals);

  std::int64_t size() const { return size_; }       ///< number of elements
  bool empty() const { return size_ == 0; }         ///< there is none
  std::int64_t front() const;                       ///< smallest index; the set must not be empty
  std::int64_t back() const;                        ///< largest index; the set must not be empty
  bool is_range() const;                            ///< all of [front(), back()]; so is the empty set
  bool contains(std::int64_t index) const;          ///< it is an element
  std::int64_t position(std::int64_t index) const;  ///< number of elements smaller than `index`
  std::int64_t at(std::int64_t position) const;  ///< inverse of position; throws ArgumentError out of range

  /// Ordered by `first`. Two intervals may interleave (the pattern of two periods that repeats with their
  /// least common multiple), so the order of intervals is not the order of elements.
  /// No two intervals of count 1 touch. The span lives as long as some copy of this set.
  std::span<const Interval> intervals() const;

  /// The common elements. Cost: proportional to the intervals of the result, not to the elements, since two
  /// periods repeat with their least common multiple (or to the runs of the overlap, where that is shorter).
  /// In the result, every interval's `length` run lies
  /// inside one run of `a` and one run of `b`, and stepping by its `period` moves the position in `a` and in
  /// `b` by a constant each.
  friend PARTITA_API IndexSet intersect(const IndexSet& a, const IndexSet& b);

  /// The same set with every index moved by `offset`; the part that falls below 0 is dropped.
  IndexSet shifted(std::int64_t offset) const;

  friend PARTITA_API bool operator==(const IndexSet& a,
                                     const IndexSet& b);  ///< the same elements, however written

 private:
  friend struct distribution::IndexSetState;
  std::shared_ptr<const distribution::IndexSetState> state_;  // null: the empty set
  std::int64_t size_ = 0;
};

PARTITA_API IndexSet intersect(const IndexSet& a, const IndexSet& b);

/// "[0,128)+512*3, [1536,1600)", "empty".
PARTITA_API std::string to_string(const IndexSet& set);
PARTITA_API std::ostream& operator<<(std::ostream& stream, const IndexSet& set);

}  // namespace partita
